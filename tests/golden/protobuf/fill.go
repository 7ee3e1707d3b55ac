package main

import (
	"fmt"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Fills objects with values that tell fields apart: text is the field's name, numbers count up.
type filler struct {
	zero  bool // pointers, lists and maps are there, what is in them is zero
	done  map[reflect.Type]bool
	count int64
}

// The types with a JSON form of their own; they are filled each time.
func (f *filler) special(v reflect.Value) bool {
	f.count++
	at := time.Unix(1700000000+f.count, 123456789).UTC()
	var made interface{}
	switch v.Interface().(type) {
	case metav1.Time:
		made = metav1.NewTime(at)
	case metav1.MicroTime:
		made = metav1.NewMicroTime(at)
	case metav1.Duration:
		made = metav1.Duration{Duration: time.Duration(f.count) * 1500 * time.Millisecond}
	case resource.Quantity:
		made = resource.MustParse(fmt.Sprintf("%d.5Gi", f.count))
	case intstr.IntOrString:
		made = intstr.FromInt32(int32(f.count))
		if f.count%2 == 0 {
			made = intstr.FromString(fmt.Sprintf("%d%%", f.count))
		}
	case runtime.RawExtension:
		made = runtime.RawExtension{Raw: []byte(fmt.Sprintf(`{"raw":[%d,null,"x"]}`, f.count))}
	case metav1.FieldsV1:
		made = metav1.FieldsV1{Raw: []byte(`{"f:metadata":{"f:labels":{".":{}}}}`)}
	case apiextensionsv1.JSON:
		made = apiextensionsv1.JSON{Raw: []byte(fmt.Sprintf(`{"json":%d}`, f.count))}
	default:
		return false
	}
	if f.zero {
		switch v.Interface().(type) {
		case runtime.RawExtension, metav1.FieldsV1, apiextensionsv1.JSON: // raw JSON is never without bytes
		default:
			return true
		}
	}
	v.Set(reflect.ValueOf(made))
	return true
}

func (f *filler) fill(v reflect.Value, name string) {
	if v.Kind() == reflect.Struct && f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if f.done[v.Type()] {
			return
		}
		f.done[v.Type()] = true
		for i := 0; i < v.NumField(); i++ {
			if _, ok := v.Type().Field(i).Tag.Lookup("protobuf"); ok {
				f.fill(v.Field(i), v.Type().Field(i).Name)
			}
		}
	case reflect.Ptr:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), name)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if !f.zero {
				v.SetBytes([]byte("bytes \x00\xff of " + name))
			}
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0), name)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		f.fill(value, name)
		key := reflect.New(v.Type().Key()).Elem()
		if !f.zero {
			key.SetString("key of " + name)
		}
		v.SetMapIndex(key, value)
	default:
		f.scalar(v, name)
	}
}

func (f *filler) scalar(v reflect.Value, name string) {
	f.count++
	switch {
	case f.zero:
	case v.Kind() == reflect.String:
		v.SetString(name + " ü")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Int32:
		v.SetInt(-f.count)
	case v.Kind() == reflect.Int64:
		v.SetInt(1<<40 + f.count)
	case v.Kind() == reflect.Float64:
		v.SetFloat(float64(f.count) + 0.25)
	default:
		panic(name)
	}
}
