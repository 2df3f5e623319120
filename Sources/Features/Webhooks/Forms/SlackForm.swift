import Proofs

/// The body of Slack's incoming webhooks: `text`, a sentence for people (docs.slack.dev, "Incoming webhooks").
enum SlackForm {
    static func body(of notice: WebhookNotice) -> [UInt8] {
        // "Slack uses &, <, and > as control characters for special parsing in text objects, so they must be converted to HTML entities"
        // (docs.slack.dev, "Formatting message text"). A name such as <!channel> would call everybody.
        let text = notice.sentence.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
            ">", with: "&gt;")
        return Array(JSONValue.object(["text": .string(text)]).compactText.utf8)
    }
}
