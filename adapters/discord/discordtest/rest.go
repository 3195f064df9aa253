package discordtest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// A problem is an error as Discord words it; with a status alone it is none.
type problem struct {
	Status  int    `json:"-"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func no(status, code int, why string) *problem { return &problem{status, code, why} }

func badForm(why string) *problem { return no(http.StatusBadRequest, 50035, "Invalid Form Body: "+why) }

// A call is one request, read.
type call struct {
	r     *http.Request
	body  []byte
	files map[string]string
}

func (c call) path(name string) string { return c.r.PathValue(name) }

// An endpoint answers a call. It runs under mu.
type endpoint func(call) (any, *problem)

func (s *Server) routes() map[string]endpoint {
	return map[string]endpoint{
		"GET /gateway":                                                     s.getGateway,
		"GET /users/@me":                                                   func(call) (any, *problem) { return user(Bot), nil },
		"GET /channels/{channel}":                                          s.getChannel,
		"GET /channels/{channel}/messages":                                 s.listMessages,
		"GET /channels/{channel}/messages/{message}":                       s.getMessage,
		"POST /channels/{channel}/messages":                                s.createMessage,
		"PATCH /channels/{channel}/messages/{message}":                     s.editMessage,
		"DELETE /channels/{channel}/messages/{message}":                    s.deleteMessage,
		"POST /channels/{channel}/messages/{message}/threads":              s.startThread,
		"PUT /channels/{channel}/messages/{message}/reactions/{emoji}/@me": s.react,
		"PUT /applications/{app}/commands":                                 s.register,
		"PUT /applications/{app}/guilds/{guild}/commands":                  s.register,
		"POST /interactions/{use}/{token}/callback":                        s.callback,
		"POST /webhooks/{app}/{token}":                                     s.followUp,
		"PATCH /webhooks/{app}/{token}/messages/@original":                 s.fillIn,
	}
}

func (s *Server) handle(route string, e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, bad := read(r)
		s.mu.Lock()
		s.requests = append(s.requests, Request{route, r.URL.Path, string(c.body)})
		f := s.fault(route, string(c.body))
		s.announce()
		s.mu.Unlock()
		honest := func() (int, any) {
			s.mu.Lock()
			defer s.mu.Unlock()
			defer s.announce()
			open := strings.Contains(route, "{token}") // the token in the path is the key
			if bad == nil && !open && r.Header.Get("Authorization") != "Bot "+s.token {
				bad = no(http.StatusUnauthorized, 0, "401: Unauthorized")
			}
			var out any
			if bad == nil {
				out, bad = e(c)
			}
			switch {
			case bad != nil:
				return bad.Status, bad
			case out == nil:
				return http.StatusNoContent, nil
			}
			return http.StatusOK, out
		}
		if f != nil {
			f(w, honest)
			return
		}
		status, out := honest()
		answer(w, &problem{Status: status}, out)
	}
}

// fault takes the next fault on order for a request. The caller holds mu.
func (s *Server) fault(route, body string) Fault {
	for i, f := range s.faults {
		if f.route == route && strings.Contains(body, f.holds) {
			s.faults = slices.Delete(s.faults, i, i+1)
			return f.do
		}
	}
	return nil
}

func answer(w http.ResponseWriter, p *problem, out any) {
	if out == nil && p.Status >= 400 {
		out = p
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	if out != nil {
		_ = json.NewEncoder(w).Encode(out)
	}
}

func read(r *http.Request) (call, *problem) {
	c := call{r: r, files: map[string]string{}}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return c, badForm(err.Error())
		}
		c.body = body
		return c, nil
	}
	if err := r.ParseMultipartForm(32 << 20); err != nil {
		return c, badForm(err.Error())
	}
	c.body = []byte(r.FormValue("payload_json"))
	for _, headers := range r.MultipartForm.File {
		for _, h := range headers {
			f, err := h.Open()
			if err != nil {
				return c, badForm(err.Error())
			}
			b, _ := io.ReadAll(f)
			_ = f.Close()
			c.files[h.Filename] = string(b)
		}
	}
	return c, nil
}

func (s *Server) getGateway(call) (any, *problem) {
	return map[string]any{"url": "ws" + strings.TrimPrefix(s.http.URL, "http") + "/gateway"}, nil
}

func (s *Server) channel(id string) (*Channel, *problem) {
	if c := s.channels[id]; c != nil {
		return c, nil
	}
	return nil, no(http.StatusNotFound, 10003, "Unknown Channel")
}

func (s *Server) getChannel(c call) (any, *problem) {
	ch, bad := s.channel(c.path("channel"))
	if bad != nil {
		return nil, bad
	}
	return wireChannel(ch), nil
}

func wireChannel(ch *Channel) map[string]any {
	out := map[string]any{"id": ch.ID, "name": ch.Name, "type": 0, "guild_id": Guild}
	switch {
	case ch.Person != "":
		out["type"] = 1
		delete(out, "guild_id")
	case ch.Parent != "":
		out["type"], out["parent_id"], out["owner_id"] = 11, ch.Parent, Bot
	}
	return out
}

func (s *Server) startThread(c call) (any, *problem) {
	ch, bad := s.channel(c.path("channel"))
	if bad != nil {
		return nil, bad
	}
	m, bad := s.find(ch.ID, c.path("message"))
	if bad != nil {
		return nil, bad
	}
	var body struct {
		Name string `json:"name"`
		Auto int    `json:"auto_archive_duration"`
	}
	_ = json.Unmarshal(c.body, &body)
	n := utf8.RuneCountInString(body.Name)
	switch {
	case n < 1 || n > 100 || body.Auto != 1440:
		return nil, badForm("name")
	case ch.Parent != "" || ch.Person != "":
		return nil, no(http.StatusBadRequest, 50024, "Cannot execute action on this channel type")
	case s.channels[m.ID] != nil:
		return nil, no(http.StatusBadRequest, 160004, "A thread has already been created for this message")
	}
	t := &Channel{ID: m.ID, Parent: ch.ID, Name: body.Name}
	s.channels[t.ID] = t
	return wireChannel(t), nil
}

func (s *Server) react(c call) (any, *problem) {
	m, bad := s.find(c.path("channel"), c.path("message"))
	if bad != nil {
		return nil, bad
	}
	if e := c.path("emoji"); !slices.Contains(m.Reactions, e) {
		m.Reactions = append(m.Reactions, e)
	}
	return nil, nil
}

func (s *Server) register(c call) (any, *problem) {
	var list []struct{ Name, Description string }
	if err := json.Unmarshal(c.body, &list); err != nil || c.path("app") != Bot {
		return nil, badForm("commands")
	}
	s.commands = nil
	for _, cmd := range list {
		if cmd.Name != strings.ToLower(cmd.Name) || cmd.Description == "" || len(cmd.Description) > 100 {
			return nil, badForm("commands: " + cmd.Name)
		}
		s.commands = append(s.commands, strings.TrimPrefix(c.path("guild")+"/"+cmd.Name, "/"))
	}
	return list, nil
}

func user(id string) map[string]any {
	names := map[string]string{Bot: "plumb", Ann: "ann", Ben: "ben"}
	return map[string]any{"id": id, "username": names[id], "discriminator": "0", "bot": id == Bot}
}
