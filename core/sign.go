// Signing the entries that this process stores, and those of a directory afterwards.

package core

import (
	"context"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Signed is the result of Sign: numbers of entries.
type Signed struct {
	Signed int // signed now
	Before int // signed before, by this key
	Others int // stored or signed by somebody else, or resting on somebody else's word
	Bad    int // cannot be read, or not be written again
}

// openSigner reads the key that signs the entries of this process, if there is one.
func (c *Cache) openSigner() {
	set, ok := c.settings.trust.Get("signing-key-file")
	if !ok || !signs || c.settings.mode == ModeOff || c.settings.mode == ModeReadOnly {
		return
	}
	s, err := trust.ReadSecret(set.Value)
	if err == nil {
		err = c.settings.keys.CheckNamespace()
	}
	if err != nil {
		c.log.warn("signing key", "what is stored is not signed (%s): %v", set.Source, err)
		return
	}
	if exposed := trust.Exposed(set.Value); exposed != "" {
		c.log.warn("signing key is exposed", "%s", exposed)
	}
	c.signer = &s
}

// Sign signs the entries of the directory that were compiled here. It leaves entries
// that somebody else has signed, or that rest on somebody else's word: a signature says
// that a process of the signer's user has made the entry.
func (c *Cache) Sign(ctx context.Context, secret trust.Secret) (done Signed, err error) {
	if err := c.settings.keys.CheckNamespace(); err != nil {
		return done, err
	}
	err = c.eachOwn(ctx, func(id *key.ID) {
		b, why := c.store.GetOwn(id)
		switch why {
		case store.None:
		case store.WrongOwner:
			done.Others++
			return
		default:
			done.Bad++
			return
		}
		defer b.Release()
		st, signatures, r := Statement(b)
		own := trust.Keys{All: []trust.Known{{Key: secret.Public()}}, Namespace: c.settings.keys.Namespace}
		switch {
		case own.Accepts(st, signatures):
			done.Before++
			return
		case len(signatures) > 0 || len(r.Words) > 0:
			done.Others++
			return
		}
		s := secret.Sign(st, own.Namespace)
		if c.store.AddSignature(b, s.Append(nil)) != store.None {
			done.Bad++
			return
		}
		c.offer(id) // now that others may use it
		done.Signed++
	})
	return done, err
}

// eachOwn calls fn for every key that has a file in the own directory.
func (c *Cache) eachOwn(ctx context.Context, fn func(id *key.ID)) error {
	for part := 0; ; part++ {
		ids, ok := c.Keys(part)
		if !ok || ctx.Err() != nil {
			return ctx.Err()
		}
		for i := range ids {
			fn(&ids[i])
		}
	}
}

// Signing is the state of an entry's signatures.
type Signing string

// The states.
const (
	SignedByTrusted   Signing = "signed by a key that is trusted"
	SignedByWithdrawn Signing = "signed by a key that was withdrawn"
	SignedTooEarly    Signing = "signed by a key that is trusted only for what was made later"
	SignedByStranger  Signing = "signed by strangers"
	SignedFalsely     Signing = "a signature is not of this entry"
	Unsigned          Signing = "not signed"
	Unreadable        Signing = "cannot be used"
)

// EachSigned calls fn for every file of an entry in the directory.
func (c *Cache) EachSigned(ctx context.Context, fn func(path string, state Signing)) error {
	return c.eachOwn(ctx, func(id *key.ID) { fn(c.store.PathOf(id), c.signing(id)) })
}

func (c *Cache) signing(id *key.ID) Signing {
	b, why := c.store.Peek(id)
	if why != store.None {
		return Unreadable
	}
	defer b.Release()
	return SigningOf(b, c.settings.keys)
}

// SigningOf returns the state of an entry's signatures, by the keys that are named.
func SigningOf(b *blob.Blob, keys *trust.Keys) Signing {
	st, signatures, r := Statement(b)
	message := st.Message(keys.Namespace)
	state := Unsigned
	if len(r.Signatures) > 0 {
		state = SignedByStranger
	}
	if len(signatures) < len(r.Signatures) {
		state = SignedFalsely
	}
	for i := range signatures {
		switch s := &signatures[i]; {
		case !s.Holds(message):
			state = SignedFalsely
		case keys.Withdraws(s.By):
			state = SignedByWithdrawn
		case keys.Rejects(s.By, st.Created):
			state = SignedTooEarly
		case keys.Trusts(s.By):
			return SignedByTrusted
		}
	}
	return state
}
