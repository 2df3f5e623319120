import Proofs

/// The body of Slack's incoming webhooks: `text`, a sentence for people (docs.slack.dev, "Incoming webhooks").
///
/// Strangers choose the names of users in it. So Slack reads no markup ("Disable Slack markup parsing by setting to false",
/// `ChatPostMessageArguments`), and shows no preview of an address in a name ("set both unfurl_links and unfurl_media to false",
/// slackhq/slack-api-docs, "Unfurling"). Slack may still make a link of such an address.
enum SlackForm {
    static func body(of notice: WebhookNotice) -> [UInt8] {
        // "Slack uses &, <, and > as control characters for special parsing in text objects, so they must be converted to HTML entities"
        // (docs.slack.dev, "Formatting message text"). A name such as <!channel> would call everybody.
        let text = notice.sentence.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(
            ">", with: "&gt;")
        let message: JSONObject = [
            "mrkdwn": .bool(false), "text": .string(text), "unfurl_links": .bool(false), "unfurl_media": .bool(false),
        ]
        return Array(JSONValue.object(message).compactText.utf8)
    }
}
