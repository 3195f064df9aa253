-- One statement a line that looks dangerous to a filter of words and is not.
SELECT "update" FROM words
SELECT "delete", "drop" FROM words
SELECT w."insert" FROM words w
SELECT "Set" AS "create" FROM words
SELECT "select" FROM words WHERE "update" = 'a'
SELECT 'DROP TABLE orders' AS text
SELECT 'a; DELETE FROM orders' AS text
SELECT '-- not a comment' AS text
SELECT '/* nor this */' AS text
SELECT 'it''s; COMMIT' AS text
SELECT $$ATTACH 'x'; --$$ AS text
SELECT 1 -- DROP TABLE orders
SELECT 1 /* DELETE FROM orders; */ AS a
SELECT 1;
SELECT 1 ; -- the end; really
SELECT 1;;
/* COPY orders TO 'x' */ SELECT 1
SELECT replace('a-b', '-', '+')
SELECT replace(customer, 'DROP', 'drop') FROM orders
SELECT customer FROM orders WHERE customer LIKE '%insert%'
SELECT customer AS "INSERT INTO" FROM orders
SELECT count(*) AS "DELETE" FROM orders
SELECT sum(amount) AS set FROM orders
SELECT 'read_csv(''/etc/passwd'')' AS text
SELECT 'getenv' AS query, 'pragma' AS load
SELECT id AS pragma, amount AS attach FROM orders
SELECT * EXCLUDE (amount) FROM orders
SELECT * REPLACE (amount * 2 AS amount) FROM orders
SELECT COLUMNS('id|amount') FROM orders
SELECT * FROM orders TABLESAMPLE 3 ROWS
SELECT * FROM orders LIMIT 1 OFFSET 1
FROM orders
FROM orders SELECT customer
TABLE orders
VALUES (1, 'DROP'), (2, 'b')
WITH call AS (SELECT 1 AS a) SELECT * FROM call
WITH copy AS (SELECT * FROM orders) SELECT count(*) FROM copy
WITH orders AS (SELECT 1 AS id) SELECT * FROM orders
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT sum(n) FROM r
SELECT id FROM orders UNION SELECT 9
SELECT id FROM orders INTERSECT SELECT id FROM orders
SELECT id FROM orders EXCEPT SELECT 1
SELECT id, sum(amount) OVER (ORDER BY id) FROM orders
SELECT customer, sum(amount) FROM orders GROUP BY ALL ORDER BY ALL
SELECT customer, sum(amount) FILTER (WHERE id > 1) FROM orders GROUP BY customer
SELECT customer FROM orders GROUP BY customer HAVING count(*) > 0
SELECT CASE WHEN amount > 10 THEN 'delete' ELSE 'drop' END FROM orders
SELECT TRY_CAST('1,200' AS INTEGER), parse_num('1,200')
SELECT * FROM range(5)
SELECT * FROM range(1000000000) LIMIT 3
SELECT * FROM generate_series(1, 3) t(n)
SELECT unnest([1, 2, 3])
SELECT * FROM unnest(['a', 'b']) t(x)
SELECT unnest(generate_series(DATE '2024-01-01', DATE '2024-02-01', INTERVAL 1 DAY))
SELECT list_transform([1, 2], lambda x: x + 1)
SELECT repeat('=', 10), lpad('1', 5, '0')
SELECT repeat('#', amount::INT) FROM orders
SELECT date_trunc('month', DATE '2024-03-04')
SELECT strftime(DATE '2024-03-04', '%Y-%m')
SELECT printf('%05d', 7), format('{:.2f}', 1.5)
SELECT a.id FROM orders a JOIN orders b USING (id)
SELECT a.id FROM orders a LEFT JOIN orders b ON a.id = b.id
SELECT * FROM orders a, LATERAL (SELECT a.id + 1 AS next)
SELECT EXISTS (SELECT 1 FROM orders WHERE id = 99)
SELECT (SELECT max(amount) FROM orders) AS top
SELECT * FROM main.orders
SELECT * FROM memory.main.orders
SELECT * FROM shop.orders
DESCRIBE orders
SUMMARIZE orders
SHOW TABLES
SELECT table_name FROM information_schema.tables
SELECT column_name FROM information_schema.columns WHERE table_name = 'orders'
SELECT regexp_replace(customer, '[;]', '--') FROM orders
SELECT pg_typeof(1), typeof(1)
SELECT now() > DATE '2020-01-01'
SELECT approx_count_distinct(customer), median(amount), quantile_cont(amount, 0.9) FROM orders
SELECT "Order ID" FROM spelled
