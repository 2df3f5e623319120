/// The body that Standard Webhooks proposes: `type`, `timestamp` and `data` (standard-webhooks.md, "Payload structure").
enum StandardForm {
    static func body(of notice: WebhookNotice) -> [UInt8] {
        notice.json([("type", notice.type), ("timestamp", notice.happenedAt.rfc3339)])
    }
}
