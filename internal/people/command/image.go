package command

import (
	// What an image without an operating system would lack: the time zones of cron
	// expressions. They are used only where the machine has none of its own.
	_ "time/tzdata"

	// And the authorities behind the certificates of the web.
	_ "golang.org/x/crypto/x509roots/fallback"
)
