import Testing
import Vocabulary

@Suite struct SuggestionTests {
    @Test(
        arguments: [
            ("endAt", "endsAt"), ("timerate", "timeRate"), ("prot", "port"), ("reciept", "receipt"), ("zzz", nil),
            ("", nil), (String(repeating: "\u{301}", count: 10_000), nil),
        ] as [(String, String?)])
    func `the nearest name is suggested`(misspelt: String, name: String?) {
        #expect(
            Suggestion.nearest(to: misspelt, among: ["endsAt", "timeRate", "port", "receipt", "reason"]) == name)
    }
}
