import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The codes and statuses that the documents name, compared with the rules of all errors.
@Suite struct ErrorTableTests {
    @Test func `each code is decided: its status, whether the same request may succeed later, and why`() throws {
        let stated = try StatedErrors().byCode
        let page = try Project.text("Sources/Service/Resources/Errors.md")
        let decision = /### (\w+)\nStatus ([0-9, ]+)\. May succeed later: (yes|no|by case), (.+?)\.(?: .*)?\n/
        let decided = page.matches(of: decision)
        #expect(decided.map { String($0.1) } == SharedAnswer.codes(explainedIn: [UInt8](page.utf8)))
        for match in decided {
            let (_, code, statuses, isRetried, reason) = match.output
            let statements = stated[String(code)] ?? []
            #expect(
                Set(statements.map(\.status)).sorted() == statuses.split(separator: ", ").compactMap { Int($0) },
                "\(code)")
            let later = Set(statements.map(\.couldSucceedLater))
            let words = later.count == 2 ? "by case" : later == [true] ? "yes" : "no"
            #expect(words == isRetried, "\(code)")
            #expect(reason.split(separator: " ").count < 20, "\(code)")
        }
    }

    @Test func `the documents name each code with its status`() throws {
        let stated = try StatedErrors().byCode
        let pages = try Project.files("Documentation", suffix: ".md") + ["README.md", "CONTRIBUTING.md"]
        var count = 0
        for page in pages {
            let text = try Project.text(page)
            var named = text.matches(of: /\b([45][0-9]{2})\b(?: with| and the code)? \(?((?:`\w+`(?:, (?=`))?)+)/).map {
                (status: $0.1, codes: $0.2)
            }
            named += text.matches(of: /(`\w+`) \(([45][0-9]{2})\)/).map { (status: $0.2, codes: $0.1) }
            for (status, codes) in named {
                for code in codes.matches(of: /\w+/).map({ String($0.0) }) where stated[code] != nil {
                    let statuses = Set(stated[code]?.map(\.status) ?? [])
                    #expect(statuses.contains(try #require(Int(status))), "\(page) says \(status) `\(code)`.")
                    count += 1
                }
            }
        }
        #expect(count > 30)
    }

    @Test func `the arguments of a call are read as Swift reads them`() {
        let source = #"""
             "a", .conflict, mayRetry: x == 1 && f(2, 3),
             sentence: "It, (really) \(text("b", 1)) is.", [1, 2]) + other(3)
            """#
        let arguments = SwiftArguments(in: source[...])
        #expect(arguments.unlabelled == ["\"a\"", ".conflict", "[1, 2]"])
        #expect(
            arguments.labelled == [
                "mayRetry": "x == 1 && f(2, 3)", "sentence": #""It, (really) \(text("b", 1)) is.""#,
            ])
    }
}
