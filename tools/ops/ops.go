// Package ops holds the clients of what a team runs its services with. They only read.
package ops
