"""Runs inside the interpreter: gets one program, runs it, says what it printed. Everything here is in the program's reach,
so nothing here guards anything; what the program may do is decided by whoever reads the messages."""

import gc

gc.disable()  # nothing that is loaded here is ever garbage

import ast, io, json, linecache, sys, traceback
import collections, datetime, decimal, functools, itertools, math, random, re, statistics

NAME = "<code>"  # the program's file name in a traceback
MOST = 65536  # characters that are kept of what it prints

to_host, from_host = sys.stdout.buffer, sys.stdin.buffer


def send(message):
    to_host.write(json.dumps(message).encode() + b"\n")
    to_host.flush()


def receive():
    return json.loads(from_host.readline())


class Printed(io.TextIOBase):
    """What the program prints, up to a size."""

    def __init__(self):
        self.parts, self.left, self.cut = [], MOST, False

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() takes text, not " + type(text).__name__)
        self.cut = self.cut or len(text) > self.left
        kept = text[: self.left]
        self.parts.append(kept)
        self.left -= len(kept)
        return len(text)


# What programs are given.


class SQLError(Exception):
    """A query that gave no rows because it was wrong or not allowed."""


def unpack(data):
    """A table travels as columns and rows; programs get a list of dicts. A text stays one."""
    return data if isinstance(data, str) else [dict(zip(data["columns"], row)) for row in data["rows"] or []]


def sql(query, source=None):
    """The rows of one SELECT statement, as a list of dicts."""
    send({"sql": str(query), "source": str(source or "")})
    answer = receive()
    if answer.get("error"):
        raise SQLError(answer["error"])
    return unpack(answer["table"])


def median(values):
    """The median, missing values left out."""
    return statistics.median(present(values))


def stdev(values):
    """The sample's standard deviation, missing values left out."""
    return statistics.stdev(present(values))


def present(values):
    return [v for v in values if v is not None]


class Correlation(float):
    """The coefficient, which can also be unpacked into coefficient and p-value."""

    def __new__(cls, r, p):
        made = super().__new__(cls, r)
        made.statistic, made.pvalue = r, p
        return made

    def __iter__(self):
        return iter((self.statistic, self.pvalue))

    def __getitem__(self, i):
        return (self.statistic, self.pvalue)[i]


Regression = collections.namedtuple("Regression", "slope intercept rvalue pvalue stderr")


def linregress(x, y):
    """The line of least squares through the pairs that are complete."""
    x, y = list(x), list(y)
    if len(x) != len(y):
        raise ValueError(f"x has {len(x)} values and y has {len(y)}")
    pairs = [(a, b) for a, b in zip(x, y) if a is not None and b is not None]
    n = len(pairs)
    if n < 2:
        raise ValueError("at least two complete pairs are needed")
    mx, my = (math.fsum(v) / n for v in zip(*pairs))
    sxx = math.fsum((a - mx) ** 2 for a, _ in pairs)
    syy = math.fsum((b - my) ** 2 for _, b in pairs)
    sxy = math.fsum((a - mx) * (b - my) for a, b in pairs)
    if sxx == 0:
        raise ValueError("all values of x are the same")
    slope, df = sxy / sxx, n - 2
    r = max(-1.0, min(1.0, sxy / math.sqrt(sxx * syy))) if syy else 0.0
    if df == 0:
        return Regression(slope, my - slope * mx, r, 1.0, 0.0)
    unexplained = max(0.0, 1 - r * r)
    p = beta_share(unexplained, df / 2, 0.5)
    return Regression(slope, my - slope * mx, r, p, math.sqrt(unexplained * syy / sxx / df))


def pearsonr(x, y):
    """Pearson's coefficient of the pairs that are complete."""
    line = linregress(x, y)
    if len({v for v in y if v is not None}) < 2:
        raise ValueError("all values of y are the same")
    return Correlation(line.rvalue, line.pvalue)


def beta_share(x, a, b):
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    f = d
    for m in range(1, 500):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + step * d), 1 + step / c
            f *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return front * f


GIVEN = (collections, datetime, decimal, functools, itertools, json, math, random, re, statistics)
HELPERS = (sql, SQLError, median, stdev, pearsonr, linregress)


def explain(error):
    """The traceback, as far as it is about the program."""
    told = traceback.TracebackException.from_exception(error, limit=-200)
    told.stack = traceback.StackSummary.from_list([f for f in told.stack if f.filename == NAME])
    text = "".join(told.format(chain=False)).strip()
    return text if len(text) <= 4000 else text[:2000] + "\n…\n" + text[-2000:]


def run(code, scope):
    """Runs a program; gives what went wrong, or nothing. A last line that is an expression is printed."""
    linecache.cache[NAME] = (len(code), None, code.splitlines(True), NAME)
    try:
        tree, last = ast.parse(code, NAME), None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.Expression(tree.body.pop().value)
        exec(compile(tree, NAME, "exec"), scope)
        if last is not None:
            value = eval(compile(last, NAME, "eval"), scope)
            if value is not None:
                print(value)
    except SystemExit as error:
        return "" if error.code in (None, 0) else "SystemExit: " + str(error.code)
    except MemoryError:
        return "MemoryError: the program needs more memory than the 256 MiB there are"
    except BaseException as error:
        return explain(error)
    return ""


def scope(inputs):
    names = {m.__name__: m for m in GIVEN} | {h.__name__: h for h in HELPERS}
    return names | inputs | {"inputs": inputs, "__name__": "__main__"}


def serve():
    # The same path as a real program, so that the first one does not pay for it.
    sys.stdout = Printed()
    run("x = [median([1, 2]), stdev([1, 2, 4])]\nx", scope({}))
    gc.freeze()
    gc.enable()
    send({"ready": True})
    job = receive()
    printed = Printed()
    sys.stdout = sys.stderr = printed
    sys.stdin = io.StringIO()
    inputs = {name: unpack(data) for name, data in job["inputs"].items()}
    error = run(job["code"], scope(inputs))
    send({"done": True, "output": "".join(printed.parts), "cut": printed.cut, "error": error})


serve()
