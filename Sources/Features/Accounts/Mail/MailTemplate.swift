import Foundation
import Proofs

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

/// The team's page that mailed links open.
///
/// The token follows in the fragment, which browsers send to no server. So it is in no access log and in no `Referer`.
package struct MailLinks: Hashable, Sendable {
    /// The longest address, in bytes.
    static let maximumLength = 1024

    /// The address without a fragment.
    package let url: String

    /// - Parameter text: An `https` URL, or an address of the app's own scheme; `http` for this machine.
    /// - Returns: Nil for an invalid address.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength, text.isVisibleASCII,
            let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), url.fragment == nil,
            url.user == nil,
            url.password == nil, let host = url.host, !host.isEmpty
        else { return nil }
        let isLoopback = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host)
        guard scheme != "http" || isLoopback, !["ftp", "javascript", "data", "file"].contains(scheme)
        else { return nil }
        self.url = text
    }

    /// The address for an action, such as `https://garden.example/account#reset=tl_…`.
    func link(_ action: String, _ token: Secret) -> String { "\(url)#\(action)=\(token.text)" }
}

extension LeasedMail {
    package func link(_ links: MailLinks) -> String {
        links.link(mail.purpose == .reset ? "reset" : "confirm", token)
    }

    /// The subject and the text; nil for a purpose without a template.
    package func rendered(_ templates: MailTemplates, _ links: MailLinks) -> (subject: String, text: String)? {
        templates.template(for: mail.purpose, in: mail.language)?.rendered([
            .link: link(links), .releaseLink: links.link("release", token), .token: token.text, .email: mail.email,
            .newEmail: newEmail ?? mail.email, .hours: String(mail.purpose.lifetime / 3600),
            .minutes: String(mail.purpose.lifetime / 60),
        ])
    }
}

package struct MailTemplates: Sendable {
    package struct Defect: Error, CustomStringConvertible {
        package let description: String
    }

    /// The names of the purposes, for a message.
    private static let purposes = LinkPurpose.allCases.map(\.rawValue).joined(separator: ", ")

    /// The languages with a template for each purpose. The first one is the fallback.
    package let languages: [String]
    private let templates: [String: [LinkPurpose: MailTemplate]]

    /// - Parameter folder: Files such as `reset.en.txt` that replace Till's own or add a language; nil for only Till's own.
    package init(folder: URL? = nil) throws(Defect) {
        var templates: [String: [LinkPurpose: MailTemplate]] = [:]
        for (name, bytes) in Self.own { try Self.add(bytes, name, path: name, to: &templates) }
        if let folder {
            let names: [String]
            do {
                names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            } catch {
                throw Defect(
                    description:
                        "The folder of mail templates \"\(folder.path)\" cannot be read. Check its path and permissions."
                )
            }
            for name in names where !name.hasPrefix(".") {
                let file = folder.appending(path: name, directoryHint: .notDirectory)
                guard let bytes = Self.bytes(of: file) else {
                    throw Defect(description: "The mail template \(file.path) cannot be read, or is too large.")
                }
                try Self.add(bytes, name, path: file.path, to: &templates)
            }
        }
        languages = ["en"] + templates.keys.filter { $0 != "en" }.sorted()
        for language in languages {
            for purpose in LinkPurpose.allCases where templates[language]?[purpose] == nil {
                throw Defect(
                    description:
                        "The mail template \(purpose.rawValue).\(language).txt is missing. A language needs one "
                        + "for each of \(Self.purposes).")
            }
        }
        self.templates = templates
    }

    /// - Parameter language: One of `languages`. Any other language gets the first one.
    package func template(for purpose: LinkPurpose, in language: String) -> MailTemplate? {
        (templates[language] ?? languages.first.flatMap { templates[$0] })?[purpose]
    }

    private static let own: [(name: String, bytes: [UInt8])] = [
        ("verification.en.txt", PackageResources.verification_en_txt),
        ("verification.ko.txt", PackageResources.verification_ko_txt),
        ("reset.en.txt", PackageResources.reset_en_txt), ("reset.ko.txt", PackageResources.reset_ko_txt),
        ("addressChange.en.txt", PackageResources.addressChange_en_txt),
        ("addressChange.ko.txt", PackageResources.addressChange_ko_txt),
        ("newAddress.en.txt", PackageResources.newAddress_en_txt),
        ("newAddress.ko.txt", PackageResources.newAddress_ko_txt),
    ]

    /// - Returns: Nil for a file that cannot be read, or is larger than a template.
    private static func bytes(of file: URL) -> [UInt8]? { NamedFile.bytes(of: file, upTo: MailTemplate.maximumSize) }

    private static func add(
        _ bytes: [UInt8], _ name: String, path: String, to templates: inout [String: [LinkPurpose: MailTemplate]]
    ) throws(Defect) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "txt", let purpose = LinkPurpose(rawValue: String(parts[0])),
            parts[1].wholeMatch(of: /[a-z]{2,3}/) != nil
        else {
            throw Defect(
                description: "The file \(path) is no mail template. Name it PURPOSE.LANGUAGE.txt, such as "
                    + "reset.en.txt; the purposes are \(purposes).")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Defect(description: "The mail template \(path) is not UTF-8.")
        }
        do {
            templates[String(parts[1]), default: [:]][purpose] = try MailTemplate(text)
        } catch {
            throw Defect(description: "The mail template \(path) \(error.reason).")
        }
    }
}
