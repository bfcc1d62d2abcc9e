package endpoint

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/files"
)

// Body is what is in the body of a request.
type Body struct {
	Value any // JSON and forms as values, other text as text
	Files []File
}

// File is a file of a form.
type File struct {
	Field, Name, Type string // Type as the caller declares it; "" if he does not
	Content           []byte
}

// part names a file in what its sender is told.
func (f *File) part() string {
	if f.Field == "" && f.Name == "" {
		return "the body"
	}
	if f.Field == "" {
		return fmt.Sprintf("the file %q", f.Name)
	}
	return fmt.Sprintf("the file %q in the part %q", f.Name, f.Field)
}

// refusedFiles holds the files of a form against the rules of its endpoint. It gives the outcome by which the workflow
// goes on without them, or the error of the first rule that one of them does not keep.
func refusedFiles(sent []File, rules *files.Rules) (outcome string, err error) {
	if rules == nil {
		return "", workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("there is %s, and this endpoint was published by a version of Weft that took no files: publish its definition again, or send what is in it as a field", sent[0].part()))
	}
	if rules.Unreadable {
		return "", workflow.Fail(workflow.CodeInvalid, fmt.Sprintf("there is %s, and the rules for files that this endpoint waits with cannot be read: cancel its instance and start another, or send what is in it as a field", sent[0].part()))
	}
	for _, rule := range []struct {
		keeps   func(f *File) bool
		says    func(f *File) string
		code    workflow.Code
		outcome string
		goesOn  bool
	}{
		{
			func(f *File) bool { return int64(len(f.Content)) <= largest(rules) },
			func(f *File) string {
				return fmt.Sprintf("has %d bytes; this endpoint takes up to %d of a file", len(f.Content), largest(rules))
			},
			workflow.CodeTooLarge, files.TooLarge, rules.SizeGoesOn,
		},
		{
			func(f *File) bool {
				return len(rules.Allowed) == 0 || !slices.ContainsFunc(extensions(f.Name), func(ext string) bool { return !listed(rules.Allowed, ext) })
			},
			func(*File) string {
				return "is none of those that this endpoint takes: " + strings.Join(rules.Allowed, ", ")
			},
			workflow.CodeMediaType, files.Extension, rules.ExtensionGoesOn,
		},
		{
			func(f *File) bool {
				return !slices.ContainsFunc(extensions(f.Name), func(ext string) bool { return listed(rules.Blocked, ext) })
			},
			func(*File) string {
				return "is one of those that this endpoint does not take: " + strings.Join(rules.Blocked, ", ")
			},
			workflow.CodeMediaType, files.Extension, rules.ExtensionGoesOn,
		},
		{
			func(f *File) bool {
				return len(rules.Types) == 0 || among(rules.Types, plainType(f.Type)) && isItsType(f)
			},
			func(f *File) string {
				return fmt.Sprintf("is said to be %s, and is %s by what is in it; this endpoint takes %s", plainType(f.Type), typeOf(f.Type, f.Content), strings.Join(rules.Types, ", "))
			},
			workflow.CodeMediaType, files.Type, rules.TypeGoesOn,
		},
	} {
		for i := range sent {
			f := &sent[i]
			switch {
			case rule.keeps(f):
			case rule.goesOn:
				return rule.outcome, nil
			default:
				return "", workflow.Fail(rule.code, fmt.Sprintf("nothing was done: %s %s", f.part(), rule.says(f)))
			}
		}
	}
	return "", nil
}

// largest is how many bytes a file may have.
func largest(rules *files.Rules) int64 {
	if rules.MaxSize == 0 {
		return files.MaxSize
	}
	return min(max(rules.MaxSize, 0), files.MaxSize)
}

// extensions are those of a file by the whole of its name, and by what is before a colon, which is all that some file
// systems take: x.exe::$DATA is x.exe there. Dots and spaces at the end are none of its own: file systems drop them.
func extensions(name string) []string {
	ext := func(name string) string { return path.Ext(strings.TrimRight(name, ". ")) }
	all := []string{ext(name)}
	if before, _, colon := strings.Cut(name, ":"); colon && ext(before) != "" {
		all = append(all, ext(before))
	}
	return all
}

// listed reports whether an extension is one of a list, where they have their dot or not.
func listed(extensions []string, ext string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool {
		e = strings.TrimSpace(e)
		return e != "" && (strings.EqualFold(e, ext) || strings.EqualFold("."+e, ext))
	})
}

func among(types []string, typ string) bool {
	return slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(plainType(t), typ) })
}

// isItsType reports whether a file is what it is said to be; bytes may be anything.
func isItsType(f *File) bool {
	declared := plainType(f.Type)
	return declared == "application/octet-stream" || typeOf(f.Type, f.Content) == declared
}

// plainType is a MIME type without parameters, by its usual name.
func plainType(typ string) string {
	if media, _, err := mime.ParseMediaType(typ); err == nil {
		typ = media
	}
	typ = strings.ToLower(strings.TrimSpace(typ))
	switch typ {
	case "":
		return "application/octet-stream"
	case "image/jpg", "image/pjpeg":
		return "image/jpeg"
	case "application/x-zip-compressed":
		return "application/zip"
	case "application/x-gzip":
		return "application/gzip"
	case "application/vnd.rar", "application/x-rar":
		return "application/x-rar-compressed"
	}
	return typ
}

// signed are types that a file shows by its first bytes.
var signed = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "application/pdf", "application/zip", "application/gzip", "application/wasm"}

// contained are types of one container, which shows as one of them.
var contained = map[string][]string{
	"video/webm": {"audio/webm", "audio/x-matroska"},
	"video/mp4":  {"audio/mp4", "audio/m4a", "audio/x-m4a", "application/mp4"},
}

// media are how files of sounds and pictures begin that [http.DetectContentType] does not know: from the byte at on.
var media = []struct {
	at     int
	begins string
}{
	{4, "ftyp"}, {0, "II*\x00"}, {0, "MM\x00*"}, {0, "II+\x00"}, {0, "MM\x00+"}, // mp4 and its kin such as mov, heic and avif; tiff
	{0, "fLaC"}, {0, "\xff\x0a"}, {0, "\x00\x00\x00\x0cJXL "}, {0, "\x00\x00\x00\x0cjP  "}, // flac, JPEG XL, JPEG 2000
	{0, "\x00\x00\x01\xba"}, {0, "\x00\x00\x01\xb3"}, {0, "FLV"}, {0, "\x30\x26\xb2\x75"}, {0, "8BPS"}, // mpeg, flv, wma and wmv, psd
}

// isMedia reports whether a file begins as one of media does, or with a frame of mp3 or aac.
func isMedia(content []byte) bool {
	if len(content) > 1 && content[0] == 0xff && content[1]&0xe0 == 0xe0 && content[1] < 0xfe { // beyond is the mark of UTF-16
		return true
	}
	for _, m := range media {
		if len(content) > m.at && bytes.HasPrefix(content[m.at:], []byte(m.begins)) {
			return true
		}
	}
	return false
}

// shownBy is the type that the first bytes of a file show; "application/octet-stream" if they show none.
func shownBy(content []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(content[:min(len(content), 1024)], " \t\r\n\f"), []byte("%PDF-")) {
		return "application/pdf"
	}
	return plainType(http.DetectContentType(content))
}

// typeOf is the type of a file: what its content shows, and where that says little (text, bytes, or a container of many
// formats) what it is declared to be. A file that is declared as what it would show, and does not, is not that.
func typeOf(declared string, content []byte) string {
	declared = plainType(declared)
	shown := shownBy(content)
	family, sub, _ := strings.Cut(declared, "/")
	shownFamily, _, _ := strings.Cut(shown, "/")
	pictured := family == "image" || family == "audio" || family == "video" || family == "font"
	switch {
	case slices.Contains(signed, declared):
		return shown
	case shown == "text/plain" || shown == "text/xml":
		return declared
	case shown == "text/html" && (declared == "text/markdown" || sub == "xml" || strings.HasSuffix(sub, "+xml")):
		return declared // comments and tags are theirs too
	case shown == "application/octet-stream" && pictured:
		if isMedia(content) {
			return declared
		}
	case shown == "application/octet-stream" || shown == "application/zip" || shown == "application/ogg":
		if family != "text" {
			return declared
		}
	case family == shownFamily && pictured, slices.Contains(contained[shown], declared):
		return declared // audio/wave and audio/x-wav
	}
	return shown
}
