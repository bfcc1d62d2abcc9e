// Package contents keeps files beside the state of instances in etcd: what HTTP endpoints took and activities kept.
//
// Guaranteed: what [Contents.Put] has kept is read as it was, by its hash, as long as its instance is there; it goes with the
// instance; what has no instance goes some time after it was put ([Contents.Sweep]); no request is larger than etcd
// takes. Not guaranteed: that what is put for an instance that is not there yet lasts for more than an hour; that an
// instance has not a few pieces more than it may, where several nodes put at the same time; that what a node put whose
// commit came to nothing goes before its instance does.
//
// A content lies in pieces of 1 MiB below the id of its instance and its own hash. A piece is never changed, so one that is
// put again, or by a copy that comes late, is the same. The first piece is put last: where it is, all are.
//
// What refers to a content is committed after it. Below an instance that is there nothing is deleted but with the instance,
// and a commit compares that nothing has deleted that since it was loaded: so the commit has no compare of its own for
// what it refers to. One that makes an instance has: the create revision of the first piece ([There]), as the sweep
// may have come in between. Instances without contents have no key, no compare and no request for it.
//
// # Concurrency
//
// A [Contents] is safe for concurrent use and owns no goroutine.
package contents
