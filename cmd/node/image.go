package main

// What an image without an operating system would lack: the authorities behind
// the certificates of the web, and the time zones of cron expressions. Both are
// used only where the machine has none of its own.
import (
	_ "time/tzdata"

	_ "golang.org/x/crypto/x509roots/fallback"
)
