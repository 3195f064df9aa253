package ops_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plumb/tools"
	"plumb/tools/ops"
	"plumb/tools/toolstest"
)

// canned are answers of the server by expression: a status and the body's text. They are what Prometheus 3 says.
var canned = map[string]struct {
	status int
	body   string
}{
	"up": {200, success(`"vector","result":[{"metric":{"__name__":"up","job":"api","instance":"a:1"},"value":[1772366400.5,"1"]},` +
		`{"metric":{"__name__":"up","job":"db"},"value":[1772366400.5,"0"]}]`)},
	"odd": {200, success(`"vector","result":[{"metric":{"k":"a"},"value":[1772366400,"NaN"]},{"metric":{"k":"b"},"value":[1772366400,"+Inf"]},` +
		`{"metric":{"k":"c"},"histogram":[1772366400,{"count":"12","sum":"3.5","buckets":[[0,"0","1","12"]]}]}]`)},
	"scalar(1)": {200, success(`"scalar","result":[1772366400,"42.5"]`)},
	`"text"`:    {200, success(`"string","result":[1772366400,"text"]`)},
	"nothing":   {200, success(`"vector","result":[]`)},
	"rate":      {200, success(`"matrix","result":[{"metric":{"job":"api"},"values":[[1772366400,"1"],[1772366460,"2.5"]]}]`)},
	"blank":     {200, success(`"matrix","result":[]`)},
	"warned": {200, `{"status":"success","warnings":["one store was away"],"infos":["might not be a counter"],"data":{"resultType":"vector",` +
		`"result":[{"metric":{},"value":[1772366400,"1"]}]}}`},
	"many":   {200, success(`"vector","result":[` + many(57) + `]`)},
	"huge":   {200, success(`"vector","result":[` + many(100_000) + `]`)},
	"large":  {200, success(`"vector","result":[` + many(1500) + `]`)},
	"up{":    {400, `{"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:4: parse error: unexpected end of input inside braces"}`},
	"heavy":  {422, `{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}`},
	"late":   {503, `{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}`},
	"denied": {401, "<html>Unauthorized</html>"}, "forbidden": {403, ""}, "lost": {404, "404 page not found"}, "busy": {429, ""}, "broken": {502, "<html>"},
	"page":      {200, "<html>Sign in</html>"},
	"count(up)": {200, success(`"vector","result":[{"metric":{},"value":[1772366400,"7"]}]`)},
}

func success(data string) string { return `{"status":"success","data":{"resultType":` + data + `}}` }

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,{"metric":{"pod":"pod-%05d"},"value":[1772366400,"%d"]}`, i, i)
	}
	return b.String()[1:]
}

// server speaks the API as far as it is asked here. "slow" is answered when the asker has gone.
func server(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, r *http.Request) {
		q := r.FormValue("query")
		if q == "slow" {
			<-r.Context().Done()
			return
		}
		if r.FormValue("timeout") != "15s" {
			t.Errorf("the server was not told the time limit: %v", r.Form)
		}
		c, ok := canned[q]
		if !ok {
			t.Errorf("nobody expects %v", r.Form)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(c.status)
		fmt.Fprint(w, c.body)
	}
	mux.HandleFunc("/prom/api/v1/query", answer)
	mux.HandleFunc("/prom/api/v1/query_range", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("query") == "full" {
			fmt.Fprint(w, full(r))
			return
		}
		answer(w, r)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// full answers a range with 21 series that have every point asked for.
func full(r *http.Request) string {
	var start, end, step float64
	fmt.Sscan(r.FormValue("start"), &start)
	fmt.Sscan(r.FormValue("end"), &end)
	fmt.Sscan(r.FormValue("step"), &step)
	var points, series []string
	for at := start; at <= end; at += step {
		points = append(points, fmt.Sprintf(`[%.3f,"1.25"]`, at))
	}
	for i := range 21 {
		series = append(series, fmt.Sprintf(`{"metric":{"pod":"p%d"},"values":[%s]}`, i, strings.Join(points, ",")))
	}
	return success(`"matrix","result":[` + strings.Join(series, ",") + `]`)
}

func prometheus(t *testing.T, address string) *ops.Prometheus {
	t.Helper()
	p, err := ops.OpenPrometheus("metrics", address, &http.Client{Transport: &http.Transport{}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// steady is the tool with one time for every as-of: between two calls nothing else may change.
type steady struct{ tools.Tool }

func (s steady) Call(ctx context.Context, in tools.Input) (tools.Result, error) {
	r, err := s.Tool.Call(ctx, in)
	for i := range r.Item.Sources {
		if time.Since(r.Item.Sources[i].AsOf) > time.Minute {
			return r, errors.New("the as-of is not now")
		}
		r.Item.Sources[i].AsOf = time.Unix(0, 0).UTC()
	}
	return r, err
}

func tool(t *testing.T) tools.Tool {
	return tools.QueryMetrics([]tools.Metrics{prometheus(t, server(t).URL+"/prom/")})
}

func ask(t *testing.T, tool tools.Tool, args map[string]string) tools.Result {
	t.Helper()
	r, err := tool.Call(t.Context(), tools.Input{Args: object(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func object(args map[string]string) json.RawMessage {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return b
}

func TestContract(t *testing.T) {
	c := toolstest.Case{Tool: steady{tool(t)}}
	for _, q := range []string{"up", "odd", "scalar(1)", "nothing", "many", "large", "warned", "rate"} {
		c.Good = append(c.Good, string(object(map[string]string{"promql": q})))
	}
	for _, q := range []string{"rate", "blank", "full"} {
		c.Good = append(c.Good, string(object(map[string]string{"promql": q, "start": "2026-03-01T12:00:00Z", "end": "1772370000", "step": "1s"})))
	}
	for _, q := range []string{"up{", "heavy", "late", "denied", "forbidden", "lost", "busy", "broken", "page", "huge", `"text"`} {
		c.Bad = append(c.Bad, string(object(map[string]string{"promql": q})))
	}
	c.Bad = append(c.Bad, `{"promql":"up","source":"other"}`, `{"promql":"up","start":"tomorrow"}`, `{"promql":"up","step":"1m"}`)
	toolstest.Run(t, c)
}

func TestInstant(t *testing.T) {
	tool := tool(t)
	r := ask(t, tool, map[string]string{"promql": "up"})
	want := "2 series of up\ntime,instance,job,value\n2026-03-01T12:00:00.5Z,a:1,api,1\n2026-03-01T12:00:00.5Z,,db,0"
	if diff := cmp.Diff(want, r.Text); diff != "" {
		t.Error(diff)
	}
	if r.Item.SQL != "" || r.Item.Output != "" || r.Item.RowCount != 2 || r.Item.Truncated {
		t.Errorf("the item is %+v", r.Item)
	}
	for q, want := range map[string][][]any{
		"odd":       {{"2026-03-01T12:00:00Z", "a", "NaN"}, {"2026-03-01T12:00:00Z", "b", "+Inf"}, {"2026-03-01T12:00:00Z", "c", "histogram: count 12, sum 3.5"}},
		"scalar(1)": {{"2026-03-01T12:00:00Z", 42.5}},
	} {
		if diff := cmp.Diff(want, ask(t, tool, map[string]string{"promql": q}).Item.Rows); diff != "" {
			t.Errorf("%s: %s", q, diff)
		}
	}
	w := ask(t, tool, map[string]string{"promql": "warned"})
	if diff := cmp.Diff([]string{"one store was away", "might not be a counter"}, w.Item.Sources[0].Notes); diff != "" || !strings.Contains(w.Text, "one store was away") {
		t.Errorf("%s\n%s", diff, w.Text)
	}
}

// L10: nobody has measured anything, which is not the same as a measured zero.
func TestNoSeriesIsNotZero(t *testing.T) {
	tool := tool(t)
	for _, args := range []map[string]string{{"promql": "nothing"}, {"promql": "blank", "start": "-1h"}} {
		r := ask(t, tool, args)
		if r.Failed || r.Item.RowCount != 0 || !strings.Contains(r.Item.Summary, "no series matched; that is no data, not zero") || !strings.Contains(r.Text, "hint: ") {
			t.Errorf("%v gave %+v", args, r)
		}
	}
}

// L9: what is read and what is kept are capped apart, and both say so.
func TestMuch(t *testing.T) {
	tool := tool(t)
	r := ask(t, tool, map[string]string{"promql": "many"})
	if n := strings.Count(r.Text, "pod-"); n != 20 || len(r.Item.Rows) != 57 || r.Item.Truncated {
		t.Errorf("%d series are shown, %d kept", n, len(r.Item.Rows))
	}
	if !strings.Contains(r.Text, "(20 of 57 rows shown)") || !strings.Contains(r.Text, "aggregate with sum by") {
		t.Errorf("the text is %s", r.Text)
	}
	if r := ask(t, tool, map[string]string{"promql": "large"}); len(r.Item.Rows) != 1000 || r.Item.RowCount != 1500 || !r.Item.Truncated {
		t.Errorf("%d of %d rows are kept", len(r.Item.Rows), r.Item.RowCount)
	}
	r = ask(t, tool, map[string]string{"promql": "full", "start": "2026-03-01T12:00:00Z", "end": "2026-03-01T13:00:00Z", "step": "1s"})
	if r.Item.RowCount != 21*121 || len(r.Item.Rows) != 1000 || !r.Item.Truncated {
		t.Errorf("%d of %d rows are kept", len(r.Item.Rows), r.Item.RowCount)
	}
	if !strings.Contains(r.Text, "widened from 1s") || !strings.HasPrefix(r.Text, "21 series of full, 2541 points, cut to the first 1000 rows\n") {
		t.Errorf("the text is %s", r.Text)
	}
}

func TestFailuresHelp(t *testing.T) {
	tool := tool(t)
	for q, want := range map[string]string{
		"up{":       "1:4: parse error: unexpected end of input inside braces",
		"heavy":     "fewer series",
		"late":      "shorter range",
		"denied":    "user and password",
		"forbidden": "user and password",
		"lost":      "without /api/v1",
		"busy":      "in a minute",
		"broken":    "HTTP 502",
		"page":      "not Prometheus' API",
		`"text"`:    "not a number",
		"huge":      "more than 1 MiB",
	} {
		if r := ask(t, tool, map[string]string{"promql": q}); !r.Failed || !strings.Contains(r.Text, want) || !strings.Contains(r.Text, "the source metrics ") {
			t.Errorf("%s gave %q", q, r.Text)
		}
	}
}

// D10: whatever fails, nobody reads the password or the token that the URL holds.
func TestNoCredentialsInErrors(t *testing.T) {
	s := server(t)
	secret := func(address string) string { return strings.Replace(address, "http://", "http://bob:hunter22@", 1) }
	for _, address := range []string{secret(s.URL) + "/prom?token=hunter22", secret(s.URL) + "/hunter22", "http://bob:hunter22@127.0.0.1:1/", "http://127.0.0.1:1/?token=hunter22", "http://bob:hunter22@nowhere.invalid"} {
		p := prometheus(t, address)
		for _, q := range []string{"up{", "denied", "page"} {
			_, err := p.Query(t.Context(), q, time.Now())
			if err == nil {
				t.Fatal("no error")
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(e.Error(), "hunter22") {
					t.Errorf("the error tells the secret: %v", e)
				}
			}
		}
	}
	for _, address := range []string{"", "bob:hunter22@db", "http://bob:hunter22 x@db", "http://bob:p#hunter22@db", "ftp://bob:hunter22@db", "http://bob:hunter22@db:port", "http://"} {
		if _, err := ops.OpenPrometheus("metrics", address, nil); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// A URL's user and password are sent, and a server that takes no POST is asked by GET.
func TestSignsInAndAsksByGet(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "bob" || password != "hunter22":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method != http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			fmt.Fprint(w, canned[r.FormValue("query")].body)
		}
	}))
	defer s.Close()
	got, err := prometheus(t, strings.Replace(s.URL, "://", "://bob:hunter22@", 1)).Check(t.Context())
	if err != nil || got != "answers; it looks at 7 targets" {
		t.Errorf("%q %v", got, err)
	}
}

// S10: a stop is felt within 100 ms, and the cause is its.
func TestStops(t *testing.T) {
	tool := tool(t)
	over := errors.New("stopped by a person")
	for _, args := range []map[string]string{{"promql": "slow"}, {"promql": "slow", "start": "-1h"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var stopped time.Time
		timer := time.AfterFunc(50*time.Millisecond, func() { stopped = time.Now(); cancel(over) })
		_, err := tool.Call(ctx, tools.Input{Args: object(args)})
		if !errors.Is(err, over) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(stopped); took > 100*time.Millisecond {
			t.Errorf("it took %v to stop", took)
		}
		timer.Stop()
	}
}

func TestAnEndedQueryGivesTheCause(t *testing.T) {
	over := errors.New("stopped by a person")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(over)
	if _, err := prometheus(t, server(t).URL+"/prom").Query(ctx, "slow", time.Now()); err != over {
		t.Errorf("the error is %v", err)
	}
}

// deaf never answers, until the question is taken back.
type deaf struct{}

func (deaf) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTimeIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := ops.OpenPrometheus("metrics", "http://x", &http.Client{Transport: deaf{}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r := ask(t, tools.QueryMetrics([]tools.Metrics{p}), map[string]string{"promql": "up"})
		if took := time.Since(began); took != 15*time.Second || !r.Failed || !strings.Contains(r.Text, "took longer than 15 s") {
			t.Errorf("after %v: %+v", took, r)
		}
	})
}
