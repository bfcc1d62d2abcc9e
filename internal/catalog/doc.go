// Package catalog is the definitions as every node sees them: it checks,
// versions, compiles and publishes them, and keeps a table of their heads.
//
// Guaranteed:
//
//   - A publication is one transaction that compares the definition's head: a
//     stimulus sees the old triggers or the new ones, never a mix, never neither.
//   - Versions are immutable, and so is what they were compiled from: the
//     versions of the definitions that they run as activities are fixed when a
//     version is made. [Catalog.Program] gives the same program for the same
//     version on every node, for ever, or says not-runnable-here where the node's
//     program lacks what the version uses, such as an activity type of a newer
//     one.
//   - Content equal to the head is no new version, and with
//     [PublishRequest].OnlyNew no content that was ever published under that id
//     is published again, by any node, at the same time or years later.
//   - A definition that is not in the table is looked for in etcd before it is
//     said not to be found.
//
// Not guaranteed: that the table is current. It follows a watch, with a sweep
// behind it, so a head that it gives may have moved a moment ago: a caller
// that starts something by it compares [store.DefinitionHead].Modified, or the
// trigger that was read, in the starting transaction. What this node itself
// wrote it sees at once.
//
// # Definitions used as activities
//
// A reference is resolved once, when a version of the using definition is made:
// its version id first, then its id with its version, then the published
// version; a published version marked autoUpdate wins over all of them. When a
// definition marked autoUpdate is published, each published definition that
// uses it gets a new version of its own, with the same source; instances that
// run stay on theirs.
//
// # Equal content
//
// Content is compared by a hash of the source as a tree: format, comments, the
// order of keys, and in Elsa's JSON what changes with each export (version
// numbers, times), do not count. It does not depend on how this program models
// definitions, so nodes of different versions agree.
//
// # Concurrency
//
// All methods may be called from any goroutine, before, during and after
// [Catalog.Run], which owns the watch. The table is immutable and replaced as a
// whole. Programs and definitions that are handed out are shared and must not
// be changed.
package catalog
