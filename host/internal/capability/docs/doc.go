// Package docs answers docs.read: PDF, images and notebooks as blocks that a model
// can be shown.
//
// The file is opened here, once and as it was judged, and read whole. What parses it
// runs elsewhere, in a guest whose only capability is to read these bytes: see
// [Options]. A parser that a hostile document breaks costs one call.
package docs
