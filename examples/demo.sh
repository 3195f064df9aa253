#!/usr/bin/env bash
# Asks three questions about the shop in this folder. The planner that answers is built in: a set of rules, no language
# model and no key. Everything else is the real thing: the loop, the tools, the evidence and the checks.
set -euo pipefail
bot=$1
shop=$(dirname "$0")/shop
while read -r question; do
	printf '\n━━━ %s\n\n' "$question"
	"$bot" ask -dir "$shop" -model offline "$question"
done <"$(dirname "$0")/questions.txt"
cat <<'TEXT'

That was the offline planner. To put the bot into Slack: create an app from README.md's manifest, and then
  SLACK_APP_TOKEN=xapp-… SLACK_BOT_TOKEN=xoxb-… OPENAI_API_KEY=sk-… bin/bot run -config examples/plumb.yaml
TEXT
