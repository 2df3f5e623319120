import Foundation

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
