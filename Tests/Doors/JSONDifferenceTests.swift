import Proofs
import TestSupport
import Testing

/// The comparison of whole answers.
@Suite struct JSONDifferenceTests {
    @Test(arguments: [
        (#"{"a":1,"b":[null,"x"]}"#, #"{"b":[null,"x"],"a":1}"#, []),
        (#"{"a":1}"#, #"{"a":1.0}"#, ["/a: 1 instead of 1.0"]),
        (#"{"a":null}"#, #"{}"#, ["/a: null instead of nothing"]),
        (#"{}"#, #"{"a/b":{"c":1}}"#, [#"/a~1b: nothing instead of {"c":1}"#]),
        (#"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":"1","c":2}}"#, [#"/a/b: 1 instead of "1""#]),
        ("[1,2]", "[2,1]", ["/0: 1 instead of 2", "/1: 2 instead of 1"]),
        ("[1]", "[1,2]", ["/1: nothing instead of 2"]),
        ("[1,2]", "[1]", ["/1: 2 instead of nothing"]),
        (#"{"a":[]}"#, #"{"a":{}}"#, ["/a: [] instead of {}"]),
    ])
    func `each difference has its path and both values`(found: String, expected: String, differences: [String]) throws {
        let (found, expected) = (try JSONParser.parse(Array(found.utf8)), try JSONParser.parse(Array(expected.utf8)))
        #expect(found.differences(from: expected) == differences)
    }
}
