package main

const (
	inContents = "internal/store/etcdstore/contents/contents.go"
	inSweep    = "internal/store/etcdstore/contents/sweep.go"
)

// fileGuards are those of files beside instances.
var fileGuards = []patch{
	{"a file is kept for an instance that is there", inContents,
		"\t\tt.When(db.Exists(s.conn.Keys.Instance(instance)))\n", "", inStore, "TestFilesAreBounded"},
	{"an instance has a bounded number of pieces", inContents,
		"\tif of-int64(len(there))+int64(n) > MostPieces {", "\tif false {", inStore, "TestFilesAreBounded"},
	{"a file that is another one is not given", inContents,
		"\tif Hash(data) != hash || int64(len(data)) != size {", "\tif false {", inStore, "TestAFileThatIsNotAsItWas"},
	{"a piece that unpacks to more is not unpacked", inContents,
		"; size > PieceBytes {", "; size < 0 {", inStore, "TestAFileThatIsNotAsItWas"},
	{"a start compares its files", "internal/store/etcdstore/commits/commit.go",
		"\tthere := contents.Compares(s.conn.Conn, c)\n", "\tthere := contents.Compares(s.conn.Conn, c)[:0]\n", inStore, "TestAStartWithoutItsFiles"},
	{"a new instance compares its files", "internal/store/etcdstore/internal/lookup/new.go",
		"\tcmps = append(cmps, contents.There(s.Conn, n.Header.ID, n.Command.Contents)...)\n", "\t_ = contents.There(s.Conn, n.Header.ID, n.Command.Contents)\n", inStore, "TestAStartWithoutItsFiles"},
	{"files go when their instance is deleted", "internal/store/etcdstore/commits/commit.go",
		"\tcontents.DeleteOf(s.conn.Conn, o, c.Before)\n", "", inStore, "TestFilesGoWithTheirInstance"},
	{"files go when their instance is purged", "internal/store/etcdstore/upkeep/retention.go",
		"\tcontents.DeleteOf(p.s.conn.Conn, o, rec)\n", "", inStore, "TestFilesGoWithTheirInstance"},
	{"few instances with files are purged at once", inContents,
		"\t\treturn MostPieces\n", "\t\treturn 0\n", inStore, "TestManyInstancesWithFiles"},
	{"files of an instance that is there are not swept", inSweep,
		"t := s.conn.Begin(\"delete files without an instance\", db.Absent(s.conn.Keys.Instance(id)), ", "t := s.conn.Begin(\"delete files without an instance\", ", inStore, "TestALateCopy|TestTheSweepLeaves"},
	{"files of an instance with mail are not swept", inSweep,
		"db.NoneNewer(s.conn.Keys.Mailbox(id), 0), ", "", inStore, "TestTheSweepLeaves"},
	{"files that came lately are not swept", inSweep,
		", db.NoneNewer(k.ContentsOf(id), before))", ")", inStore, "TestTheSweepLeaves"},
	{"a file of a stranger is not given", "internal/instancefiles/instancefiles.go",
		"\tif ref.Instance == o.Instance || o.Parent", "\tif true || o.Parent", inHTTP, "TestAFileOfAnotherInstance"},
	{"a body that is a file keeps the rules for files", "internal/httpapi/run/endpoint.go",
		"return runtime.EndpointBody{Files: []runtime.EndpointFile{runtime.EndpointFile(raw)}}, nil", "_ = raw\n\t\t\treturn runtime.EndpointBody{}, nil", inHTTP, "TestFilesAreRefused"},
	{"the fields of a form with files are bounded", "internal/httpapi/run/endpoint.go",
		"; fields > c.API.Config.MaxBody {", "; fields < 0 {", inHTTP, "TestFilesAreRefused"},
	{"an answer that is too large for a value is a file", "pkg/activities/web/http_request.go",
		"\tif e.file != nil {\n\t\tx.Journal", "\tif false {\n\t\tx.Journal", "./pkg/activities", "TestALargeAnswerIsAFile"},
	{"the place of a large answer is given back", "pkg/activities/web/http_request.go",
		"\t<-places\n\te.large, e.body, e.file", "\te.large, e.body, e.file", "./pkg/activities", "TestALargeAnswerIsAFile"},
	{"an import without its files is refused", "pkg/runtime/commands/files.go",
		"\t\tcase f.LeftOut && !has:", "\t\tcase false && !has:", inHTTP, "TestAnExportHasItsFiles"},
	{"a file of an import is held against its hash", "pkg/runtime/commands/files.go",
		"\t\tcase !f.LeftOut && (hex", "\t\tcase false && (hex", inHTTP, "TestAnExportHasItsFiles"},
	{"an import that tells of no files needs those that its state names", "pkg/runtime/commands/files.go",
		"\tif list == nil { // of a program that told of none", "\tif false {", inHTTP, "TestAnExportHasItsFiles"},
	{"no file is larger than one may be, whatever the endpoint says", "internal/endpoint/files.go",
		"\treturn min(max(rules.MaxSize, 0), files.MaxSize)\n", "\treturn max(rules.MaxSize, 0)\n", inHTTP, "TestFilesAreRefused"},
}
