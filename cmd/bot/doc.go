/*
Command bot is Plumb: a chat-ops bot that answers questions about a team's data in Slack and Discord and shows its
working. This page is a tour of the code; after it you know where a line lives.

# The road of one question

Somebody mentions the bot. The adapter of the platform (adapters/slack, adapters/discord) translates what happened into
a chat.Event and hands it to the bus, and only when the bus has it for good does the platform hear that we have it.
dispatch takes the event from the bus and asks steering what it means; the ledger records the message once and routes it
in one transaction. If a run starts, a wake-up goes over the bus, and one executor claims the run. The loop asks the
model, runs the tools that it asks for, and again; a reply without calls is checked by verify, figure by figure. The
ending and the posts that tell of it are written in one transaction; the posts go over the bus to the adapter, which puts
them into the thread part by part, and never twice.

	adapters → bus → dispatch → ledger → loop → tools → verify → ledger → bus → adapters

# The words

chat, evidence and model say what things are: a message, a post, an item of evidence, a figure with a status, a turn of a
conversation. They do no I/O and everybody may import them. Two of them hold a port: chat.Poster (somebody who puts posts
into a platform) and model.Model (something that replies). Each port has a suite that every implementation passes:
chat/chattest and model/modeltest.

# The parts

  - ledger is the durable record and its port; ledger/sqlite and ledger/postgres keep it, ledger/ledgertest is the suite.
    Leases and fences live here: who may write to a run, and until when.
  - bus is NATS: the streams, the signals that may be lost, questions between the programs. With no nats.url the server
    runs inside this process and opens no port.
  - access says which sources a place may use, steering what a message means to a run under way. Both are pure.
  - tools is the fixed set that a model may call, a file a tool. Under it, tools/tables loads files into DuckDB and guards
    its SQL, tools/documents searches and reads texts, tools/python keeps interpreters that can reach nothing, and
    tools/redact takes secrets out of whatever is read.
  - loop is the bounded loop; budget.go says what ends it, ending.go how it ends, transcript.go what the model reads.
  - verify finds the figures of an answer and says of each where it comes from.
  - dispatch routes, claims, keeps leases, hands posts on and finds what got stuck.
  - adapters joins platforms to the bus and delivers; adapters/markdown is the text work that they share.
  - app reads the configuration and builds the programs; app/command is the commands as values.
  - model/openai and model/anthropic speak to providers, model/script plays a file, model/offline plans by rules.

# The two programs

This one is the chat side and, as long as no nats.url is configured, everything else too. cmd/executor is the work side
alone, as often as you like, with NATS and PostgreSQL between them.

Which package may import which is a table in internal/archtest; a test keeps it true.
*/
package main
