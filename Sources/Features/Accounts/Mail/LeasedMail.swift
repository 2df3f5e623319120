import Foundation
import Proofs

/// A mail that a sender has taken for an attempt, with the secret of its link.
package struct LeasedMail: Sendable {
    package let mail: QueuedMail
    package let token: LinkToken
    package let linkEndsAt: Timestamp
    /// The new address of a change; nil for another mail.
    package let newEmail: String?
}

extension LeasedMail {
    /// The values of the placeholders.
    func values(_ links: MailLinks) -> [MailTemplate.Placeholder: String] {
        [
            .link: link(links), .releaseLink: links.link("release", token), .token: token.text, .email: mail.email,
            .newEmail: newEmail ?? mail.email, .hours: String(mail.purpose.lifetime / 3600),
            .minutes: String(mail.purpose.lifetime / 60),
        ]
    }

    /// The link of the mail.
    package func link(_ links: MailLinks) -> String {
        links.link(mail.purpose == .reset ? "reset" : "confirm", token)
    }

    /// The subject and the text; nil for a purpose without a template.
    package func rendered(_ templates: MailTemplates, _ links: MailLinks) -> (subject: String, text: String)? {
        templates.template(for: mail.purpose, in: mail.language)?.rendered(values(links))
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
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
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
    func link(_ action: String, _ token: LinkToken) -> String { "\(url)#\(action)=\(token.text)" }
}

/// The templates of mails, for each purpose and language.
package struct MailTemplates: Sendable {
    /// The defect of a template file.
    package struct Defect: Error, CustomStringConvertible {
        package let description: String
    }

    private struct Key: Hashable {
        let purpose: LinkPurpose
        let language: String
    }

    /// The languages with a template for each purpose. The first one is the fallback.
    package let languages: [String]
    private let templates: [Key: MailTemplate]

    /// - Parameter folder: Files such as `reset.en.txt` that replace Till's own or add a language; nil for only Till's own.
    /// - Throws: `Defect`.
    package init(folder: URL? = nil) throws(Defect) {
        var templates: [Key: MailTemplate] = [:]
        for (name, bytes) in Self.own { try Self.add(bytes, name, to: &templates) }
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
                try Self.add(bytes, name, in: folder, to: &templates)
            }
        }
        let languages = ["en"] + Set(templates.keys.map(\.language)).subtracting(["en"]).sorted()
        for language in languages {
            for purpose in LinkPurpose.allCases where templates[Key(purpose: purpose, language: language)] == nil {
                throw Defect(
                    description:
                        "The mail template \(purpose.rawValue).\(language).txt is missing. A language needs one "
                        + "for each of \(LinkPurpose.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
        }
        self.languages = languages
        self.templates = templates
    }

    /// - Parameter language: One of `languages`. Any other language gets the first one.
    package func template(for purpose: LinkPurpose, in language: String) -> MailTemplate? {
        templates[Key(purpose: purpose, language: language)]
            ?? languages.first.flatMap { templates[Key(purpose: purpose, language: $0)] }
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
    private static func bytes(of file: URL) -> [UInt8]? {
        guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
        defer { try? handle.close() }
        // An empty file also returns nil here.
        guard let data = try? handle.read(upToCount: MailTemplate.maximumSize + 1) ?? Data() else { return nil }
        return data.count <= MailTemplate.maximumSize ? [UInt8](data) : nil
    }

    private static func add(
        _ bytes: [UInt8],
        _ name: String,
        in folder: URL? = nil,
        to templates: inout [Key: MailTemplate]
    ) throws(Defect) {
        let path = folder.map { $0.appending(path: name, directoryHint: .notDirectory).path } ?? name
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2] == "txt", let purpose = LinkPurpose(rawValue: String(parts[0])),
            parts[1].wholeMatch(of: /[a-z]{2,3}/) != nil
        else {
            throw Defect(
                description: "The file \(path) is no mail template. Name it PURPOSE.LANGUAGE.txt, such as "
                    + "reset.en.txt; the purposes are \(LinkPurpose.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Defect(description: "The mail template \(path) is not UTF-8.")
        }
        do {
            templates[Key(purpose: purpose, language: String(parts[1]))] = try MailTemplate(text)
        } catch {
            throw Defect(description: "The mail template \(path) \(error.reason).")
        }
    }
}

/// A mail in the queue, waiting or sent.
///
/// It has no text and no secret. Each attempt creates a new token for the link, in the commit that begins the attempt. The
/// ledger stores only the token's digest.
package struct QueuedMail: Hashable, Sendable {
    /// The user's number.
    let user: Int64
    /// A random identifier, the same for each attempt.
    package let identifier: String
    package let purpose: LinkPurpose
    /// The recipient, as the user wrote the address.
    package let email: String
    /// The language of the text, such as `en`.
    package let language: String
    package let createdAt: Timestamp
    /// The number of attempts that have begun.
    package let attempts: Int
    /// Nil for a mail that was sent or given up.
    package let nextAttemptAt: Timestamp?
    package let sentAt: Timestamp?
    /// The code of the last failure; nil if there was none.
    package let lastError: String?

    package init(
        user: Int64,
        identifier: String,
        purpose: LinkPurpose,
        email: String,
        language: String,
        createdAt: Timestamp,
        attempts: Int = 0,
        nextAttemptAt: Timestamp?,
        sentAt: Timestamp? = nil,
        lastError: String? = nil
    ) {
        self.user = user
        self.identifier = identifier
        self.purpose = purpose
        self.email = email
        self.language = language
        self.createdAt = createdAt
        self.attempts = attempts
        self.nextAttemptAt = nextAttemptAt
        self.sentAt = sentAt
        self.lastError = lastError
    }
}
