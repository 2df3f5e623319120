import Features

/// A command that sends a message as the service does.
struct MessageCommand {
    static let signatureHeader = "webhook-signature"
    static let authorizationHeader = "authorization"
    /// The values for members who may not see a signature and the endpoint's authorization.
    private static let placeholders = [signatureHeader: "v1,SIGNATURE", authorizationHeader: "AUTHORIZATION"]

    let message: SignedWebhook
    let url: String
    /// True if the command has the signature and the authorization.
    let isSigned: Bool

    /// The header fields of the request.
    var headers: [(name: String, value: String)] {
        [("content-type", "application/json"), ("user-agent", "Till")]
            + message.headers.map { header in
                (header.name, isSigned ? header.value : Self.placeholders[header.name] ?? header.value)
            }
    }

    var text: String {
        let lines =
            ["curl -X POST \(Self.quoted(url))"] + headers.map { "-H \(Self.quoted("\($0.name): \($0.value)"))" }
            + ["--data-raw \(Self.quoted(String(decoding: message.body, as: UTF8.self)))"]
        return lines.joined(separator: " \\\n  ")
    }

    /// A text as one word of a shell (POSIX, "Single-Quotes").
    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
