// Package tables makes the files of a folder tables that SQL can ask, and nothing that SQL can change.
//
// A folder is read into a snapshot: an in-memory DuckDB of its own, with the catalog that was found while loading. When
// the folder changes, [Files.Refresh] loads another snapshot and swaps the two; queries under way finish on the old one.
// Nothing is ever written into the folder.
//
// A statement passes two walls. The judge (judge.go) reads the tree that DuckDB's own parser makes of it, never its
// words, and refuses with a reason. Under it the engine is locked (engine.go): no files, no settings, one statement, of
// the kind that reads, in a transaction that cannot write. What the judge lets through by mistake can do no harm.
package tables
