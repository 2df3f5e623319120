import Proofs
import Vocabulary

/// Values as people read them.
enum Shown {
    /// A moment to the minute, in UTC. The script shows it in the browser's time zone.
    static func moment(_ moment: Timestamp?) -> HTML {
        guard let text = moment?.rfc3339 else { return nothing }
        return time(HTMLAttribute("datetime", text), .class("moment")) {
            plain(text.prefix(16).replacing("T", with: " ") + " UTC")
        }
    }

    /// The day of a moment, in UTC. The script shows the day in the browser's time zone.
    static func day(_ moment: Timestamp?) -> HTML {
        guard let text = moment?.rfc3339 else { return nothing }
        return time(HTMLAttribute("datetime", text), .class("day")) { plain(String(text.prefix(10))) }
    }

    /// The last day before an end that is a midnight.
    static func lastDay(before end: Timestamp?) -> HTML {
        day(end.map { $0.adding(milliseconds: -1) })
    }

    /// A sentence whose moments, in the form of RFC 3339, are shown as elsewhere, and whose texts in backticks are code.
    ///
    /// - Parameter show: The form of a moment.
    static func sentence(_ sentence: Phrase, _ show: (Timestamp?) -> HTML = day) -> HTML {
        let pattern = /`([^`\u{2066}-\u{2069}]+)`|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/
        let found = sentence.english.matches(of: pattern).map(\.output)
        // The languages have the same ones, in the same order.
        guard found.map(\.0) == sentence.korean.matches(of: pattern).map(\.output.0) else { return HTML { sentence } }
        let parts = [sentence.english, sentence.korean].map {
            $0.split(separator: pattern, omittingEmptySubsequences: false).map(String.init)
        }
        return HTML {
            for index in parts[0].indices {
                Phrase(english: parts[0][index], korean: parts[1][index])
                if found.indices.contains(index) {
                    if let text = found[index].1 {
                        code { plain(String(text)) }
                    } else {
                        show(Timestamp(rfc3339: found[index].0))
                    }
                }
            }
        }
    }

    static func money(_ price: Price?) -> HTML {
        price.map { price in span(.class("money")) { price.phrase } } ?? nothing
    }

    /// A number with a separator between thousands.
    static func number(_ number: some BinaryInteger) -> HTML { plain(digits(number)) }

    static func digits(_ number: some BinaryInteger) -> String {
        (number < 0 ? "-" : "") + UInt64(number.magnitude).groupedDigits
    }

    /// The longest identifier that is read at a glance, in bytes.
    private static let shortLength = 12

    /// An identifier in a fixed-width font. A long one may be cut, so that its title has all of it; the script adds a button
    /// that copies it.
    static func identifier(_ text: String?) -> HTML {
        guard let text else { return nothing }
        return code(text.utf8.count > shortLength ? HTMLAttribute("title", text) : nil) { data(text) }
    }

    static func origin(_ origin: Origin?) -> HTML {
        origin.map { origin in code { plain(origin.rawValue) } } ?? nothing
    }

    /// A part of a cell, and a smaller one below it.
    static func lines(_ first: HTML, _ second: HTML?) -> HTML {
        HTML {
            first
            if let second { div(.class("note"), second) }
        }
    }

    /// A drawing beside the text that says the same.
    static func icon(_ name: String) -> HTML {
        svg(.class("icon"), HTMLAttribute("aria-hidden", "true")) {
            use(HTMLAttribute("href", ConsolePath("assets", "icons.svg").text + "#" + name))
        }
    }

    /// A link to a customer, by the name. Nil for an erased one.
    static func customer(_ user: User?) -> HTML {
        guard let user, user.issuer != User.erasedIssuer else { return HTML { "erased" } }
        return link(to: user)
    }

    static func link(to user: User) -> HTML { a(.href(.customer(user))) { data(user.name) } }

    static func wayBack(to user: User) -> HTML {
        p { a(.href(.customer(user))) { spaced(Phrase("Customer"), data(user.name)) } }
    }

    static var nothing: HTML { span(.class("nothing")) { plain("–") } }

    /// A text that people paste elsewhere, with the button that copies it.
    ///
    /// - Parameter identifier: The identifier of the element on the page.
    static func copyable(_ identifier: String, _ text: String) -> HTML {
        p(.class("actions")) {
            code(.class("secret"), .id(identifier)) { plain(text) }
            copyButton(for: identifier)
        }
    }

    /// A button by which the script copies the text of an element.
    ///
    /// - Parameter identifier: The identifier of the element on the page.
    static func copyButton(for identifier: String) -> HTML {
        button(.type("button"), HTMLAttribute("data-copy", identifier)) { "Copy" }
    }

    /// A word in a coloured frame.
    static func badge(_ phrase: Phrase, _ mood: Mood = .neutral) -> HTML {
        span(.class("badge " + mood.rawValue)) { phrase }
    }

    static func badge(_ word: Word) -> HTML { badge(word.title, word.mood) }

    /// A word for people, and its effect.
    typealias Word = (title: Phrase, mood: Mood)
}

extension Price {
    var phrase: Phrase { Phrase(english: formatted, korean: korean) }

    /// A sum for a card.
    var sumPhrase: Phrase { Phrase(english: formatted, korean: koreanSum) }
}
