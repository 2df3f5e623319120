/// The template of a mail's subject and text, with placeholders such as `{{link}}`.
///
/// A template engine would replace an unknown placeholder by nothing, and escape links as in HTML. Here an unknown placeholder
/// is an error at the start of the service, and values are inserted unchanged.
package struct MailTemplate: Hashable, Sendable {
    /// The largest template, in bytes.
    static let maximumSize = 32 * 1024
    /// The longest subject, in bytes.
    private static let maximumSubjectLength = 200
    private static let subjectField = "Subject:"

    /// A placeholder for a value.
    package enum Placeholder: String, Sendable, CaseIterable {
        case link
        /// The link by which the owner of an address releases it from another person's account.
        case releaseLink
        /// The secret of the link, without its address.
        case token
        /// The recipient.
        case email
        case newEmail
        /// The lifetime of the link, in hours.
        case hours
        /// The lifetime of the link, in minutes.
        case minutes
    }

    private enum Part: Hashable, Sendable {
        case text(String)
        case value(Placeholder)
    }

    /// The reason why a text is not a template.
    struct Defect: Error, Equatable {
        let reason: String
    }

    private let subject: [Part]
    private let text: [Part]

    /// - Parameter source: A first line `Subject: …`, an empty line, and the text.
    /// - Throws: `Defect`.
    init(_ source: String) throws(Defect) {
        guard source.utf8.count <= Self.maximumSize else {
            throw Defect(reason: "is longer than \(Self.maximumSize) bytes")
        }
        let lines = source.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.first, first.hasPrefix(Self.subjectField), lines.dropFirst().first?.isEmpty == true
        else { throw Defect(reason: "must begin with a line \"Subject: …\" and an empty line") }
        let subject = first.dropFirst(Self.subjectField.count).drop { $0 == " " }
        guard (1...Self.maximumSubjectLength).contains(subject.utf8.count),
            !subject.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw Defect(reason: "must have a subject of 1 to \(Self.maximumSubjectLength) bytes") }
        self.subject = try Self.parts(of: subject)
        text = try Self.parts(of: lines.dropFirst(2).joined(separator: "\n")[...])
        guard text.contains(.value(.link)) || text.contains(.value(.token)) else {
            throw Defect(reason: "has neither {{link}} nor {{token}} in its text")
        }
    }

    /// The subject and the text with their values. A placeholder without a value becomes empty.
    package func rendered(_ values: [Placeholder: String]) -> (subject: String, text: String) {
        func render(_ parts: [Part]) -> String {
            parts.map { part in
                switch part {
                case .text(let text): text
                case .value(let placeholder): values[placeholder] ?? ""
                }
            }.joined()
        }
        return (render(subject), render(text))
    }

    private static func parts(of source: Substring) throws(Defect) -> [Part] {
        var parts: [Part] = []
        var rest = source
        while let start = rest.firstRange(of: "{{") {
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else {
                throw Defect(reason: "has \"{{\" without \"}}\"")
            }
            let name = String(rest[start.upperBound..<end.lowerBound])
            guard let placeholder = Placeholder(rawValue: name) else {
                let known = Placeholder.allCases.map { "{{\($0.rawValue)}}" }.joined(separator: ", ")
                throw Defect(reason: "has the unknown placeholder {{\(name.prefix(40))}}; the known ones are \(known)")
            }
            parts += [.text(String(rest[..<start.lowerBound])), .value(placeholder)]
            rest = rest[end.upperBound...]
        }
        return parts + [.text(String(rest))]
    }
}
