package offline

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// shopCatalog is a small catalog as the tools tell it.
func shopCatalog(t testing.TB) catalog {
	t.Helper()
	c, err := readSources(`{"sources":[{"name":"shop","kind":"files","tables":[
		{"name":"orders","rows":404,"columns":["order_id VARCHAR","customer_id VARCHAR","placed_at DATE","region VARCHAR","status VARCHAR","quantity BIGINT","amount DECIMAL(10, 2)","Gift Note VARCHAR"]},
		{"name":"customers","rows":80,"columns":["customer_id VARCHAR","name VARCHAR","segment VARCHAR","active BOOLEAN"]}],
		"documents":["refunds.md"],"skipped":[]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{
		`{"rows":404,"columns":[{"name":"order_id","type":"VARCHAR","distinct":404},{"name":"customer_id","type":"VARCHAR","distinct":60},
			{"name":"placed_at","type":"DATE","min":"2025-11-03","max":"2026-06-29","distinct":170},
			{"name":"region","type":"VARCHAR","distinct":3,"common":["EU","US","O'Higgins"]},{"name":"status","type":"VARCHAR","distinct":3,"common":["paid","Paid","in transit"]},
			{"name":"quantity","type":"BIGINT","distinct":6},{"name":"amount","type":"DECIMAL(10, 2)","distinct":200},{"name":"Gift Note","type":"VARCHAR","distinct":2,"common":["wrap"]}],"notes":[]}`,
		`{"rows":80,"columns":[{"name":"customer_id","type":"VARCHAR","distinct":80},{"name":"name","type":"VARCHAR","distinct":80},
			{"name":"segment","type":"VARCHAR","distinct":2,"common":["private","business"]},{"name":"active","type":"BOOLEAN","distinct":2}],"notes":[]}`,
	} {
		if err := c.tables[i].inspect(text); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// sqlOf is the statement for what was said, or the doubt about it.
func sqlOf(c catalog, texts ...string) string {
	q := together(texts)
	p, _ := choose(q, c, nil)
	if why := doubt(q, p); why != "" {
		return "? " + why
	}
	return p.sql(false)
}

func TestSQL(t *testing.T) {
	c := shopCatalog(t)
	for _, tt := range []struct{ said, want string }{
		{"how many orders?", "SELECT count(*) AS orders FROM orders"},
		{"How many orders are in transit?", "SELECT count(*) AS orders FROM orders WHERE lower(status) = 'in transit'"},
		{"orders in O'Higgins", "SELECT count(*) AS orders FROM orders WHERE lower(region) = 'o''higgins'"},
		{"orders for us", "SELECT count(*) AS orders FROM orders"}, // no country
		{"orders for US", "SELECT count(*) AS orders FROM orders WHERE lower(region) = 'us'"},
		{"orders by status", "SELECT lower(status) AS status, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1"},
		{"orders by gift note", `SELECT "Gift Note", count(*) AS orders FROM orders GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1`},
		{"orders not in the EU", "SELECT count(*) AS orders FROM orders WHERE NOT coalesce(lower(region) = 'eu', FALSE)"},
		{"orders in November", "SELECT count(*) AS orders FROM orders WHERE placed_at >= DATE '2025-11-01' AND placed_at < DATE '2025-12-01'"},
		{"orders last week", "SELECT count(*) AS orders FROM orders WHERE placed_at >= DATE '2026-06-29' AND placed_at < DATE '2026-07-06'"},
		{"orders over €1,200.50", "SELECT count(*) AS orders FROM orders WHERE amount > 1200.5"},
		{"how many customers are active", "SELECT count(*) AS customers FROM customers WHERE active"},
		{"how many customers are not active", "SELECT count(*) AS customers FROM customers WHERE NOT coalesce(active, FALSE)"},
		{"revenue per segment", "SELECT customers.segment AS segment, sum(orders.amount) AS total_amount FROM orders LEFT JOIN customers ON customers.customer_id = orders.customer_id GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1"},
		{"orders in May and in June", "? I read more than one period here; please ask for one at a time, or for a split by month."},
		{"orders over 5", "? “over 5”: of which column? Numbers in `orders` are `quantity` or `amount`."},
		{"how many llamas", "? I do not understand this question: I find nothing in `orders` that “llamas” could mean."},
		{"average of orders", "? Of which column? Numbers in `orders` are `quantity` or `amount`."},
		{"number of orders and their amount", "? I do not see what part “amount” has in this question about `orders`."},
		{"average order_id", "? Of which column? Numbers in `orders` are `quantity` or `amount`."},
		{"what share of orders was paid", "SELECT sum(CASE WHEN lower(status) = 'paid' THEN 1 ELSE 0 END) AS part_of_orders, count(*) AS orders, 100.0 * sum(CASE WHEN lower(status) = 'paid' THEN 1 ELSE 0 END) / nullif(count(*), 0) AS share_percent FROM orders"},
		{"what share of EU orders was paid", "SELECT sum(CASE WHEN lower(status) = 'paid' THEN 1 ELSE 0 END) AS part_of_orders, count(*) AS orders, 100.0 * sum(CASE WHEN lower(status) = 'paid' THEN 1 ELSE 0 END) / nullif(count(*), 0) AS share_percent FROM orders WHERE lower(region) = 'eu'"},
	} {
		if got := sqlOf(c, tt.said); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.said, got, tt.want)
		}
	}
}

// What is said later narrows, replaces, or adds.
func TestTogether(t *testing.T) {
	c := shopCatalog(t)
	for _, tt := range []struct {
		said []string
		want string
	}{
		{[]string{"orders per region", "only paid ones"}, "SELECT region, count(*) AS orders FROM orders WHERE lower(status) = 'paid' GROUP BY 1 ORDER BY 2 DESC NULLS LAST, 1"},
		{[]string{"how many orders in the EU", "no, the US"}, "SELECT count(*) AS orders FROM orders WHERE lower(region) = 'us'"},
		{[]string{"how many orders in the EU", "also the US"}, "SELECT count(*) AS orders FROM orders WHERE lower(region) IN ('eu', 'us')"},
		{[]string{"revenue in May", "in June please"}, "SELECT sum(amount) AS total_amount FROM orders WHERE placed_at >= DATE '2026-06-01' AND placed_at < DATE '2026-07-01'"},
		{[]string{"orders by region", "by month instead"}, "SELECT CAST(date_trunc('month', placed_at) AS DATE) AS month, count(*) AS orders FROM orders GROUP BY 1 ORDER BY 1"},
		{[]string{"orders by region", "how many customers are there?"}, "SELECT count(*) AS customers FROM customers"},
		{[]string{"total amount of orders", "actually the average"}, "SELECT avg(amount) AS average_amount FROM orders"},
		{[]string{"how many orders", "over 100 euros only"}, "SELECT count(*) AS orders FROM orders WHERE amount > 100"},
	} {
		if got := sqlOf(c, tt.said...); got != tt.want {
			t.Errorf("%q\n got %s\nwant %s", tt.said, got, tt.want)
		}
	}
}

func TestBounds(t *testing.T) {
	last := time.Date(2026, 6, 29, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct{ said, want string }{
		{"in March", "2026-03-01 2026-04-01"},
		{"in July", "2025-07-01 2025-08-01"}, // not there yet this year
		{"in March 2024", "2024-03-01 2024-04-01"},
		{"in 2025", "2025-01-01 2026-01-01"},
		{"on 2026-02-28", "2026-02-28 2026-03-01"},
		{"on 4 March", "2026-03-04 2026-03-05"},
		{"on March 4th, 2025", "2025-03-04 2025-03-05"},
		{"Q2 2026", "2026-04-01 2026-07-01"},
		{"between 2026-01-10 and 2026-01-20", "2026-01-10 2026-01-21"},
		{"from November to February", "2025-11-01 2026-03-01"},
		{"since May", "2026-05-01 –"},
		{"after May", "2026-06-01 –"},
		{"after 2026-12-31", "2027-01-01 –"},
		{"before 2026-03-01", "– 2026-03-01"},
		{"until March", "– 2026-04-01"},
		{"last month", "2026-06-01 2026-07-01"},
		{"last week", "2026-06-29 2026-07-06"},
		{"last 7 days", "2026-06-23 2026-06-30"},
		{"last 2 years", "2025-01-01 2027-01-01"},
		{"last 3 quarters", "2025-10-01 2026-07-01"},
		{"May 2026", "2026-05-01 2026-06-01"},
		{"you may ask", ""},
		{"the 2026-13-01 thing", ""},
		{"march 30th of 2026", "2026-03-30 2026-03-31"},
	} {
		q, got := parse(tt.said, 0), ""
		if q.period != nil {
			from, to := q.period.bounds(last)
			show := func(d time.Time) string {
				if d.IsZero() {
					return "–"
				}
				return d.Format(time.DateOnly)
			}
			got = show(from) + " " + show(to)
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.said, got, tt.want)
		}
	}
}

func TestNumber(t *testing.T) {
	for text, want := range map[string]string{"1,200": "1200 true", "$3.5k": "3500 true", "2m": "2e+06 true", "12%": "12 true", "0": "0 true", "000123": "0 false",
		"0.5": "0.5 true", "1,20": "0 false", "C12": "0 false", "ten": "10 true", "": "0 false", "$": "0 false"} {
		n, ok := number(strings.ToLower(text))
		if got := fmt.Sprint(n, ok); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A pattern of what may stand in a statement of ours outside of quotes.
var harmless = regexp.MustCompile(`^[A-Za-z0-9_ .,()*/<>=]*$`)
var quotedParts = regexp.MustCompile(`'(?:[^']|'')*'|"(?:[^"]|"")*"`)

// FuzzParse: no text breaks the parser or the planner, and no text gets out of the quotes of a statement.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"how many orders per region in March?", "top 5 customers by amount since 2026-01-01", "orders where \"x'; DROP TABLE orders\" between 5 and 7 or more",
		"what share of EU orders over €5k was “paid”", "last 10 orders, not in the US and without gift note", "average number of orders per month vs. may", "in", "between 1 and", "of Q4 of 2", "<@U1> `"} {
		f.Add(s, "only the EU")
	}
	c := shopCatalog(f)
	f.Fuzz(func(t *testing.T, first, second string) {
		q := together([]string{first, second})
		if len(q.words) > 2*maxWords {
			t.Fatalf("%d words", len(q.words))
		}
		p, ok := choose(q, c, nil)
		if !ok {
			t.Fatal("no plan")
		}
		for _, sql := range []string{probe(p, openWords(q, p.left)), writeIfClear(q, p)} {
			if rest := quotedParts.ReplaceAllString(sql, "x"); !harmless.MatchString(rest) {
				t.Errorf("%q, %q: %s", first, second, sql)
			}
		}
		if again := fmt.Sprint(writeIfClear(q, p)); again != writeIfClear(q, p) {
			t.Error("not deterministic")
		}
	})
}

func writeIfClear(q question, p plan) string {
	if doubt(q, p) != "" {
		return ""
	}
	return p.sql(false)
}
