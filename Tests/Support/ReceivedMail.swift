import Foundation

/// A message that a mail server has accepted.
package struct ReceivedMail: Sendable {
    /// The lines of the header, each with its continuation lines.
    package let header: [String]
    /// The text, decoded.
    package let text: String

    init(_ data: Data) {
        let parts = String(decoding: data, as: UTF8.self).components(separatedBy: "\r\n\r\n")
        header = (parts.first ?? "").replacingOccurrences(of: "\r\n ", with: " ").components(separatedBy: "\r\n")
        let base64 = parts.dropFirst().joined().components(separatedBy: "\r\n").joined()
        text = Data(base64Encoded: base64).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// The value of a header field; nil if there is none, or more than one.
    package func field(_ name: String) -> String? {
        let values = header.filter { $0.hasPrefix("\(name): ") }
        return values.count == 1 ? values.first.map { String($0.dropFirst(name.count + 2)) } : nil
    }

    /// The token of the first link in the text for an action, such as `reset`.
    package func token(_ action: String) -> String? {
        guard let start = text.range(of: "#\(action)=") else { return nil }
        return String(text[start.upperBound...].prefix { !$0.isWhitespace })
    }
}
