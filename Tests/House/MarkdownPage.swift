import Foundation

/// A Markdown document of the project, as GitHub shows it.
struct MarkdownPage {
    /// From the project's root.
    let path: String
    let lines: [Substring]
    /// The lines without code blocks, whose place is empty.
    let prose: [Substring]

    init(_ path: String) throws {
        self.path = path
        let text = try String(
            contentsOf: HouseTests.root.appending(path: path, directoryHint: .notDirectory), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var isFenced = false
        prose = lines.map { line in
            if line.hasPrefix("```") {
                isFenced.toggle()
                return ""
            }
            return isFenced || line.hasPrefix("    ") ? "" : line
        }
    }

    /// The documents of the project's root, of its folders of documents, and those that these link to.
    static func all() throws -> [MarkdownPage] {
        let folders = ["", "Documentation/", "Examples/", "Keys/"]
        let paths = try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: HouseTests.root.appending(path: folder).path)
                .filter { $0.hasSuffix(".md") }.map { folder + $0 }
        }
        let pages = ["Service", "AppStore/StoreHTTP", "PlayStore/PlayHTTP", "HTTPSupport/LocalStoreHTTP"]
        return try (paths + pages.map { "Sources/\($0)/Resources/Errors.md" }).sorted()
            .map(MarkdownPage.init)
    }

    /// The targets of links and pictures.
    var links: [String] {
        prose.flatMap { $0.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) } }
    }

    /// The targets of pictures.
    var pictures: [String] {
        prose.flatMap { $0.matches(of: /!\[[^\]]+\]\(([^)\s]+)\)/).map { String($0.1) } }
    }

    /// The fragments by which links name the headings.
    var anchors: Set<String> {
        Set(
            prose.filter { $0.hasPrefix("#") }.map { line in
                line.drop { $0 == "#" }.trimmingCharacters(in: .whitespaces).lowercased()
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == " " }.replacing(" ", with: "-")
            })
    }

    /// The paragraphs of text: neither headings, tables, lists, pictures, comments nor code.
    var paragraphs: [[Substring]] {
        prose.split { $0.isEmpty }.map(Array.init).filter { paragraph in
            guard let first = paragraph.first else { return false }
            return !["#", "|", "-", "!", "1. ", "<!--"].contains { first.hasPrefix($0) }
        }
    }
}
