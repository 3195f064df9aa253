package offline

// Words that end the names of columns without adding to what they mean, and words for other words. Whatever is taken
// by a synonym is said in the answer.
var (
	idWords = set("id ids no nr number code key zip postcode phone port pid uid index")
	tails   = set(`id ids at on date time ts name code no nr number key timestamp ms s sec seconds eur usd gbp pct percent c celsius f kb mb bytes hours
 minutes min days day`)
	additiveWords = set("amount total revenue sale quantity qty cost byte unit count spend spent volume hour day net gross tax item visit click price_total kwh energy")
)

// synonyms lead from a word (its stem) to words that stand in names of columns, the likeliest first.
var synonyms = map[string][]string{
	"revenue": {"revenue", "amount", "sales", "total", "net", "gross"}, "sale": {"sales", "amount", "revenue", "total"},
	"turnover": {"revenue", "amount", "sales", "total"}, "income": {"income", "revenue", "amount", "salary"},
	"money": {"amount", "revenue", "total", "cost"}, "spend": {"spend", "amount", "cost", "total"}, "spent": {"spend", "amount", "cost", "total"},
	"spending": {"spend", "amount", "cost", "total"}, "worth": {"value", "amount", "price"}, "value": {"value", "amount", "price", "total"},
	"cost": {"cost", "price", "amount"}, "price": {"price", "amount", "cost"}, "sum": {"amount", "total"}, "expensive": {"price", "amount", "cost"},
	"unit": {"units", "quantity", "qty"}, "piece": {"quantity", "qty", "units"}, "sold": {"quantity", "qty", "units", "amount"}, "qty": {"quantity"},
	"quantity": {"qty", "units"}, "volume": {"quantity", "volume"}, "size": {"bytes", "size"}, "traffic": {"bytes", "traffic"},
	"salary": {"pay", "wage", "compensation", "income"}, "pay": {"salary", "wage", "compensation"}, "paid": {"salary", "pay"}, "wage": {"salary", "pay"}, "earn": {"salary", "pay", "wage"},
	"earning":    {"salary", "pay", "revenue", "amount"},
	"department": {"dept", "team", "division"}, "dept": {"department"}, "team": {"department", "team"}, "job": {"title", "role", "position"}, "role": {"title", "position"},
	"position": {"title", "role"}, "office": {"location", "city", "site"}, "location": {"city", "office", "site", "region", "room", "country"},
	"place": {"location", "city", "room"}, "market": {"region", "country"}, "nation": {"country"}, "area": {"region", "location"},
	"latency": {"latency", "duration", "response"}, "duration": {"latency", "seconds"}, "slow": {"latency", "duration"}, "slowest": {"latency", "duration"}, "fastest": {"latency", "duration"},
	"cheapest": {"price", "cost", "amount"}, "priciest": {"price", "cost", "amount"}, "hottest": {"temperature", "temp"}, "coldest": {"temperature", "temp"},
	"warmest":     {"temperature", "temp"},
	"temperature": {"temp"}, "temp": {"temperature"}, "humidity": {"humid", "rh"}, "page": {"path", "url", "page"}, "url": {"path", "page"},
	"endpoint": {"path", "url", "route"}, "route": {"path", "url"}, "client": {"customer", "client"}, "buyer": {"customer"}, "shopper": {"customer"},
	"user": {"user", "customer", "employee"}, "visitor": {"ip", "visitor", "user"}, "kind": {"type", "category", "kind"}, "type": {"kind", "category"},
	"category": {"type", "kind", "segment"}, "group": {"segment", "category"}, "state": {"status"}, "status": {"state"}, "reason": {"cause"}, "cause": {"reason"},
	"article": {"product", "item"}, "item": {"product", "item"}, "good": {"product"}, "device": {"sensor", "device"}, "person": {"name", "employee"},
	"severity": {"level"}, "charge": {"amount"}, "method": {"verb"}, "gender": {"sex"}, "hour": {"hours"},
}

// rowNouns lead from a word for what a row stands for to words that stand in names of tables.
var rowNouns = map[string][]string{
	"request": {"request", "access", "log", "web"}, "hit": {"request", "access", "log", "web"}, "visit": {"visit", "access", "log", "web"},
	"call": {"request", "call"}, "event": {"event", "log"}, "log": {"event", "log"}, "message": {"log", "message"}, "error": {"error"},
	"reading": {"reading", "measurement"}, "measurement": {"reading", "measurement"}, "sample": {"reading", "measurement"},
	"people": {"employee", "staff", "people", "person"}, "person": {"employee", "staff", "people"}, "employee": {"staff", "people"}, "staff": {"employee"},
	"worker": {"employee", "staff"}, "colleague": {"employee", "staff"}, "headcount": {"employee", "staff"}, "sale": {"order", "transaction"},
	"purchase": {"order", "transaction"}, "client": {"customer"}, "buyer": {"customer"}, "transaction": {"order", "payment"}, "return": {"refund"},
	"incident": {"incident", "outage"},
}

// revenueTables are those in which an amount is money that came in.
var revenueTables = set("order sale transaction invoice payment purchase")

var revenueWords = set("revenue sale turnover income earning spend spent spending sold")

// units lead from the unit of a number to words that stand in the columns that it is of.
var units = map[string][]string{
	"euro": money, "eur": money, "dollar": money, "usd": money, "pound": money, "gbp": money, "ms": times, "millisecond": times, "second": times, "sec": times,
	"degree": {"temperature", "temp"}, "celsius": {"temperature", "temp"}, "byte": {"bytes", "size"}, "piece": {"quantity", "qty"},
}

var (
	money = []string{"amount", "revenue", "price", "total", "cost", "salary", "sales", "net", "gross", "value"}
	times = []string{"duration", "latency", "seconds", "ms", "time", "elapsed"}
)
