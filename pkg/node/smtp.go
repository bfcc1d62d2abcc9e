package node

import (
	"errors"
	"fmt"

	"github.com/weft-run/weft/internal/certificate"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities/mail"
	"github.com/weft-run/weft/pkg/engine"
)

// SMTP is the mail server of a node. It is the operator's, so it may have a private address.
type SMTP struct {
	Address        string // host:port; "": there is none
	TLS            string // "starttls", the default, "tls" or "none"
	CACert         string // PEM file with the authorities of its certificate; default: the system's
	User           string // "": it wants none
	PasswordSecret string // the name of the secret with the user's password
	From           string // the sender of mails that say none
}

func (c Config) checkSMTP() error {
	s := c.SMTP
	if s.Address == "" {
		if s.User != "" || s.PasswordSecret != "" || s.From != "" || s.CACert != "" {
			return errors.New("there are settings of a mail server, and no smtp-address")
		}
		return nil
	}
	var wrong mistakes
	settings := s.settings()
	if err := settings.Check(); err != nil {
		wrong = append(wrong, err)
	}
	if (s.User == "") != (s.PasswordSecret == "") {
		wrong.add("smtp-user and smtp-password-secret belong together; one of them is missing")
	}
	if s.PasswordSecret != "" && c.SecretsDir == "" {
		wrong.add("smtp-password-secret is the name of a secret, and there is no secrets-dir")
	}
	return errors.Join(wrong...)
}

func (s SMTP) settings() mail.Config {
	return mail.Config{Address: s.Address, Security: s.TLS, User: s.User, From: s.From}
}

// mails has the activities of r send their mails by the node's server; current gives the secrets, and is nil where none is
// sent.
func (c Config) mails(r *engine.Registry, current func() *secrets.Set) error {
	if c.SMTP.Address == "" || current == nil {
		return nil
	}
	settings := c.SMTP.settings()
	var err error
	if settings.RootCAs, err = certificate.Authorities("smtp-cacert", c.SMTP.CACert); err != nil {
		return err
	}
	settings.Password = func() (string, error) {
		v, ok := current().Get(c.SMTP.PasswordSecret)
		if !ok {
			return "", fmt.Errorf("there is no secret %s that this node can read; it comes from a file of that name in --secrets-dir", c.SMTP.PasswordSecret)
		}
		return v, nil
	}
	return r.Replace(mail.Type, mail.NewServer(settings).Activity())
}
