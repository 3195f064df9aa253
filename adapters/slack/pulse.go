package slack

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// A pulse knows when Slack was last heard. The library keeps Slack's pings to itself, so the connection is watched
// below it: whatever arrives on it is a sign of life.
type pulse struct {
	connected atomic.Bool  // since the last hello
	last      atomic.Int64 // Unix nanoseconds
}

func (p *pulse) beat()                { p.last.Store(time.Now().UnixNano()) }
func (p *pulse) since() time.Duration { return time.Since(time.Unix(0, p.last.Load())) }

// writeBuffer holds the largest acknowledgement in one frame: Slack ignores one that comes in several.
const writeBuffer = 32 << 10

func (p *pulse) dialer() *websocket.Dialer {
	var d net.Dialer
	return &websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: callTimeout, WriteBufferSize: writeBuffer,
		NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := d.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &watched{conn, p}, nil
		},
	}
}

// A watched connection reports what arrives on it.
type watched struct {
	net.Conn
	pulse *pulse
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		w.pulse.beat()
	}
	return n, err
}
