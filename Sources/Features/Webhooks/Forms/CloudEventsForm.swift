/// The JSON of CloudEvents 1.0, whose body has all attributes (cloudevents/spec, formats/json-format.md, "Envelope").
///
/// The `subject` is the purchase and not the user: "Sensitive information SHOULD NOT be carried or represented in context
/// attributes" (spec.md, "Privacy and Security").
enum CloudEventsForm {
    static func body(of notice: WebhookNotice) -> [UInt8] {
        notice.json([
            ("specversion", "1.0"), ("id", notice.identifier), ("source", notice.app.map { "/till/\($0)" } ?? "/till"),
            ("type", notice.type), ("subject", notice.reference), ("time", notice.happenedAt.rfc3339),
            ("datacontenttype", "application/json"),
        ])
    }
}
