import Foundation
import TestSupport
import Testing

/// The comments of the Swift files, as the style guide wants them: the noun or the verb first.
@Suite struct LanguageTests {
    /// The words that begin a clause instead of a noun phrase.
    private static var clause: Regex<(Substring, Substring)> { /(What|Who|Whom|Whose|Whether|How|Where|When)\b/ }
    /// The largest share of comment blocks that may begin so, in percent.
    private static let maximum = 2.0

    private struct Count {
        var blocks = 0
        /// The first lines that begin with a clause, each with its file and line.
        var clauses: [String] = []
    }

    @Test func `comments begin with what a thing is or does`() throws {
        var count = Count()
        for folder in ["Sources", "Tests", "Benchmarks"] {
            for file in try Project.files(folder, suffix: ".swift") { try Self.count(file, into: &count) }
        }
        #expect(count.blocks > 5000)
        let share = 100 * Double(count.clauses.count) / Double(max(1, count.blocks))
        #expect(share < Self.maximum, "\(count.clauses.joined(separator: "\n"))")
    }

    private static func count(_ file: String, into count: inout Count) throws {
        var isInBlock = false
        for (index, line) in try Project.text(file).split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        {
            let text = line.drop { $0 == " " }
            guard text.hasPrefix("//") else {
                isInBlock = false
                continue
            }
            if !isInBlock {
                count.blocks += 1
                let words = text.drop { $0 == "/" || $0 == " " }
                if words.prefixMatch(of: clause) != nil { count.clauses.append("\(file):\(index + 1): \(words)") }
            }
            isInBlock = true
        }
    }
}
