import Proofs
import Testing

@Suite struct Base64Tests {
    @Test(arguments: [
        ("", "", ""), ("f", "Zg==", "Zg"), ("fo", "Zm8=", "Zm8"), ("foo", "Zm9v", "Zm9v"),
        ("foob", "Zm9vYg==", "Zm9vYg"),
        ("\u{3ff}\u{3ff}", "z7/Pvw==", "z7_Pvw"),
    ])
    func `bytes have one spelling in each alphabet`(text: String, standard: String, urlSafe: String) {
        let bytes = Array(text.utf8)
        #expect(Base64.encode(bytes) == standard)
        #expect(Base64.encode(bytes, .urlSafe) == urlSafe)
        #expect(Base64.decode(standard.utf8) == bytes)
        #expect(Base64.decode(urlSafe.utf8, .urlSafe) == bytes)
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zh==", "Zm9=", "=", "====", "Zg==Zg==", "Z g==", "Zg==\n", "Zm-_", "Zm9v=", "A===", "Zé==",
    ])
    func `other standard spellings are refused`(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test(arguments: ["Zg==", "Z", "Zh", "Zm9", "Zm+/", "Zm9v\n", " Zg"])
    func `other URL-safe spellings are refused`(text: String) {
        #expect(Base64.decode(text.utf8, .urlSafe) == nil)
    }

    @Test func `every length survives the round trip`() {
        for length in 0..<100 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
            #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
            #expect(Base64.decode(Base64.encode(bytes, .urlSafe).utf8, .urlSafe) == bytes)
        }
    }
}
