package main

// scriptGuards are what keeps one step of a script, which nothing can interrupt, short.
var scriptGuards = []patch{
	{"scripts: the builtins of Object look at what they take apart", "pkg/expression/js/guardobject.go",
		"\t\tx.wrap(x.global(\"Object\"), n, few, nil)\n", "\t\t_ = n\n", inScripts, "TestJavaScriptTakesApart"},
	{"scripts: Reflect.ownKeys looks at what it takes apart", "pkg/expression/js/guardobject.go",
		"\tif want(\"ownKeys\") {", "\tif want(\"ownKeys\") && false {", inScripts, "TestJavaScriptTakesApart"},
	{"scripts: a list is not taken apart in one step if it is long", "pkg/expression/js/guardobject.go",
		"\t\t\tx.atMost(v.Get(\"length\").ToInteger(), maxProps)\n", "", inScripts, "TestJavaScriptTakesApart"},
	{"scripts: an object is not taken apart in one step if it is large", "pkg/expression/js/guardobject.go",
		"\t\t\tx.atMost(int64(len(v.GetOwnPropertyNames())), maxProps)\n", "", inScripts, "TestJavaScriptTakesApart"},
	{"scripts: nothing is looked for in a list that is too long", "pkg/expression/js/guardlist.go",
		"\t\tn := this(c)\n\t\tx.atMost(n, maxItems)\n\t\tif n*textSize", "\t\tn := this(c)\n\t\tif n*textSize", inScripts, "TestJavaScriptComparesFew"},
	{"scripts: a sort is of few", "pkg/expression/js/guardlist.go",
		"\t\tx.atMost(this(c), maxSorted)\n", "", inScripts, "TestJavaScriptComparesFew"},
	{"scripts: a sort by text looks at the time", "pkg/expression/js/guardlist.go",
		"\tx.alive()\n\treturn x.vm.ToValue(x.textOf(c.Argument(0)).CompareTo", "\treturn x.vm.ToValue(x.textOf(c.Argument(0)).CompareTo", inScripts, "TestJavaScriptStopsInOneStep"},
	{"scripts: a sort that is not told how is told", "pkg/expression/js/guardlist.go",
		"\t\tif goja.IsUndefined(c.Argument(0)) {\n", "\t\tif false {\n", inScripts, "TestJavaScriptStopsInOneStep"},
	{"scripts: a Set or a Map of a list looks at the time", "pkg/expression/js/guardlist.go",
		"\t\tif want(of) {\n", "\t\tif false {\n", inScripts, "TestJavaScriptStopsInOneStep"},
	{"scripts: brackets are not nested deep", "pkg/expression/evaluation/error.go",
		"if depth++; depth > MaxBrackets {", "if depth++; depth > 1000*MaxBrackets {", "./pkg/expression", "TestBracketsAreNot"},
}
