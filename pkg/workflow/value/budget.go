package value

import "reflect"

// TakeGo takes from a budget of bytes about what a value of any Go type has as JSON, and reports whether it was enough.
func TakeGo(v reflect.Value, left *int) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return *left >= 0
		}
		return TakeGo(v.Elem(), left)
	case reflect.String:
		*left -= v.Len() + 2
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			*left -= v.Len()
			break
		}
		for i := range v.Len() {
			*left -= 2
			if !TakeGo(v.Index(i), left) {
				return false
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !TakeGo(it.Key(), left) || !TakeGo(it.Value(), left) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !TakeGo(v.Field(i), left) {
				return false
			}
		}
	default:
		*left -= 8
	}
	return *left >= 0
}
