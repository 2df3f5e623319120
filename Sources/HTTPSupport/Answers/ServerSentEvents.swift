/// Streams of server-sent events, which end when the client disconnects (WHATWG HTML section 9.2).
package enum ServerSentEvents {
    package static let contentType = "text/event-stream"
}
