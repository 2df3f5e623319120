import Foundation
import TestSupport

/// The Korean words of `Documentation/KoreanGlossary.md`.
struct KoreanGlossary {
    static let path = "Documentation/KoreanGlossary.md"

    struct Term: Hashable {
        let english: [String]
        /// A text with the term has one of them.
        let korean: [String]
        /// Wrong in a text, unless it has another term with the word.
        let forbidden: [String]

        var right: String { korean.joined(separator: " or ") }
    }

    /// A Korean text with its English.
    struct Text: Sendable {
        /// From the project's root.
        let file: String
        /// Nil for the text of a code.
        let english: String?
        let korean: String
        /// True if each term of the English needs its word. The literals of a source may have other ones before the Korean.
        var isExact = true
    }

    /// A word that is wrong or missing.
    struct Finding: CustomStringConvertible {
        let text: Text
        let word: String
        let advice: String

        var description: String { "\(text.file): \"\(text.korean)\" (\(text.english ?? "")): \(advice)" }
    }

    struct Exception: Hashable {
        let english: String
        let word: String
    }

    let terms: [Term]
    /// The words of one meaning, with the English ones of the meaning.
    let meanings: [(korean: String, english: [String])]
    let exceptions: Set<Exception>
    /// The longest first, so that "line item" is not an item.
    private let forms: [(english: String, term: Term)]

    init() throws {
        let sections = try Project.text(Self.path).components(separatedBy: "\n## ")
        func rows(_ title: String) -> [[String]] {
            let lines = sections.first { $0.hasPrefix(title + "\n") }?.split(separator: "\n") ?? []
            // The first two are the heading of the table.
            return lines.filter { $0.hasPrefix("| ") }.dropFirst(2).map { line in
                line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
        }
        func words(_ cell: String) -> [String] {
            cell.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        terms = rows("Terms").map { Term(english: words($0[0]), korean: words($0[1]), forbidden: words($0[2])) }
        meanings = rows("Words of one meaning").map { ($0[0], words($0[1])) }
        exceptions = Set(rows("Exceptions").map { Exception(english: $0[0], word: $0[1]) })
        forms = terms.flatMap { term in term.english.map { ($0, term) } }.sorted { $0.0.count > $1.0.count }
    }

    /// The words of an English text in lower case, with a space around each. A path, an identifier and a number with its unit are
    /// one word, and code has none.
    private static func words(_ english: String) -> String {
        let prose = english.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset.isMultiple(of: 2) }.map { $0.element.lowercased() }.joined(separator: " ")
        let letters = prose.map { character in
            character.isASCII && (character.isLetter || character.isNumber) || "-_./".contains(character)
                ? character : " "
        }
        let words = String(letters).split(separator: " ").map {
            $0.trimmingCharacters(in: CharacterSet(charactersIn: "-./"))
        }
        return " " + words.joined(separator: " ") + " "
    }

    private func terms(in english: String) -> Set<Term> {
        var (rest, found) = (Self.words(english), Set<Term>())
        for form in forms {
            let word = " \(form.english.lowercased()) "
            guard rest.contains(word) else { continue }
            rest = rest.replacing(word, with: " # ")
            found.insert(form.term)
        }
        return found
    }

    /// The findings of a text, those of exceptions included.
    func findings(in text: Text) -> [Finding] {
        var findings: [Finding] = []
        let stated = text.english.map(terms)
        for term in terms {
            for word in term.forbidden where text.korean.contains(word) {
                let others = terms.filter { $0.korean.contains { $0.contains(word) } }
                guard stated.map({ $0.isDisjoint(with: others) }) ?? others.isEmpty else { continue }
                let advice = "\(word) is wrong for \"\(term.english[0])\"; write \(term.right)"
                findings.append(Finding(text: text, word: word, advice: advice))
            }
        }
        guard text.isExact, let english = text.english, let stated else { return findings }
        for term in stated where !term.korean.contains(where: { text.korean.contains($0) }) {
            let advice = "\"\(term.english[0])\" needs \(term.right)"
            findings.append(Finding(text: text, word: term.korean[0], advice: advice))
        }
        let words = Self.words(english)
        for meaning in meanings
        where text.korean.contains(meaning.korean) && !meaning.english.contains(where: { words.contains(" \($0) ") }) {
            findings.append(
                Finding(
                    text: text, word: meaning.korean,
                    advice: "\(meaning.korean) is only for \(meaning.english.joined(separator: ", "))"))
        }
        return findings
    }

    /// The exception for a finding; nil if it has none.
    func exception(for finding: Finding) -> Exception? {
        exceptions.first { $0.word == finding.word && $0.english == finding.text.english }
    }
}
