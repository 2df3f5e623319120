/// Answers that end when the client goes (WHATWG HTML section 9.2).
package enum ServerSentEvents {
    package static let contentType = "text/event-stream"
}
