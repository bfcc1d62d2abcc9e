// What of CodeMirror the editor of definitions uses; it becomes the global CodeMirror.
export { Compartment, EditorSelection, EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
export { Decoration, EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, hoverTooltip, keymap, lineNumbers } from "@codemirror/view";
export { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion } from "@codemirror/autocomplete";
export { lintGutter, lintKeymap, linter, forceLinting, setDiagnostics } from "@codemirror/lint";
export { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
export { yaml } from "@codemirror/lang-yaml";
export { tags } from "@lezer/highlight";
