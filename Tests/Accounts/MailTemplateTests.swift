import Entitlements
import Features
import Foundation
import TestSupport
import Testing

/// The texts of mails: Till's own and a team's.
@Suite struct MailTemplateTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let values = Dictionary(
        uniqueKeysWithValues: MailTemplate.Placeholder.allCases.map { ($0, "<\($0.rawValue)>") })

    private func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: folder.file(name))
    }

    private func rendered(
        _ templates: MailTemplates,
        _ purpose: LinkPurpose,
        _ language: String
    ) throws -> (subject: String, text: String) {
        try #require(templates.template(for: purpose, in: language)).rendered(Self.values)
    }

    @Test(arguments: ["en", "ko"], LinkPurpose.allCases)
    func `each purpose has a text in English and Korean`(language: String, purpose: LinkPurpose) throws {
        let templates = try MailTemplates()
        #expect(templates.languages == ["en", "ko"])
        let (subject, text) = try rendered(templates, purpose, language)
        #expect(text.contains("<link>"))
        #expect(text.contains("<email>"))
        #expect(!text.contains("{{") && !subject.contains("{{"))
        #expect(text.contains("<newEmail>") == (purpose == .addressChange))
        #expect(text.contains("<releaseLink>") == (purpose == .verification))
        #expect(subject.unicodeScalars.allSatisfy(\.isASCII) == (language == "en"))
    }

    @Test func `a file replaces a text, and only that one`() throws {
        try write("Subject: Hi {{email}}\r\n\r\n{{link}}{{token}} {{hours}} {x}", "reset.en.txt")
        let templates = try MailTemplates(folder: folder.url)
        let (subject, text) = try rendered(templates, .reset, "en")
        #expect(subject == "Hi <email>")
        #expect(text == "<link><token> <hours> {x}")
        #expect(try rendered(templates, .reset, "ko") == rendered(try MailTemplates(), .reset, "ko"))
    }

    @Test func `a value is not parsed as a template`() throws {
        try write("Subject: x\n\n{{link}} {{email}}", "reset.en.txt")
        let template = try MailTemplates(folder: folder.url).template(for: .reset, in: "en")
        let rendered = try #require(template).rendered([.link: "{{token}}", .email: "a@b.example", .token: "secret"])
        #expect(rendered.text == "{{token}} a@b.example")
    }

    @Test func `a language has a text for each purpose`() throws {
        for purpose in LinkPurpose.allCases.dropLast() {
            try write("Subject: Hallo\n\n{{link}}", "\(purpose.rawValue).de.txt")
        }
        #expect(throws: MailTemplates.Defect.self) { try MailTemplates(folder: folder.url) }
        let last = try #require(LinkPurpose.allCases.last)
        try write("Subject: Hallo\n\n{{link}}", "\(last.rawValue).de.txt")
        let templates = try MailTemplates(folder: folder.url)
        #expect(templates.languages == ["en", "de", "ko"])
        #expect(try rendered(templates, .reset, "de").subject == "Hallo")
        // Any other language falls back to English, as the template of it is gone.
        #expect(try rendered(templates, .reset, "fr") == rendered(templates, .reset, "en"))
    }

    @Test(arguments: [
        ("reset.en.txt", "", "must begin with a line \"Subject: …\""),
        ("reset.en.txt", "{{link}}", "must begin with a line \"Subject: …\""),
        ("reset.en.txt", "Subject: x\n{{link}}", "an empty line"),
        ("reset.en.txt", "Subject:\n\n{{link}}", "a subject of 1 to 200 bytes"),
        ("reset.en.txt", "Subject: x\u{1}\n\n{{link}}", "a subject of 1 to 200 bytes"),
        ("reset.en.txt", "Subject: \(String(repeating: "x", count: 201))\n\n{{link}}", "a subject of 1 to 200 bytes"),
        ("reset.en.txt", "Subject: x\n\nHello", "has neither {{link}} nor {{token}}"),
        ("reset.en.txt", "Subject: x\n\n{{link}} {{name}}", "the unknown placeholder {{name}}"),
        ("reset.en.txt", "Subject: {{ link }}\n\n{{link}}", "the unknown placeholder {{ link }}"),
        ("reset.en.txt", "Subject: x\n\n{{link}} {{", "has \"{{\" without \"}}\""),
        ("reset.en.txt", String(repeating: "x", count: 32 * 1024 + 1), "too large"),
        ("reset.txt", "Subject: x\n\n{{link}}", "is no mail template"),
        ("rset.en.txt", "Subject: x\n\n{{link}}", "is no mail template"),
        ("reset.EN.txt", "Subject: x\n\n{{link}}", "is no mail template"),
    ])
    func `a file that is no template is named`(name: String, text: String, says: String) throws {
        try write(text, name)
        do {
            _ = try MailTemplates(folder: folder.url)
            Issue.record("It was accepted.")
        } catch {
            #expect(error.description.contains(name))
            #expect(error.description.contains(says), "\(error.description)")
        }
    }

    @Test func `a missing folder is named`() {
        let folder = folder.folder("none")
        #expect {
            try MailTemplates(folder: folder)
        } throws: { error in
            "\(error)".contains(folder.path)
        }
    }
}
