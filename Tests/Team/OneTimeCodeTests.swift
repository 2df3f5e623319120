import Entitlements
import Features
import Proofs
import Testing

/// The test vectors of RFC 6238, appendix B, for SHA-1, with the last six of their eight digits.
@Suite struct OneTimeCodeTests {
    private static let secret = Array("12345678901234567890".utf8)

    @Test(arguments: [
        (Int64(59), "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
        (2_000_000_000, "279037"), (20_000_000_000, "353130"),
    ])
    func `a code is the one of the specification`(seconds: Int64, code: String) {
        let moment = Timestamp(secondsSince1970: seconds)
        #expect(OneTimeCode.code(at: seconds / 30, secret: Self.secret) == code)
        #expect(OneTimeCode.step(of: code, secret: Self.secret, at: moment, after: nil) == seconds / 30)
        #expect(OneTimeCode.step(of: code, secret: Self.secret, at: moment, after: seconds / 30) == nil)
        #expect(OneTimeCode.step(of: code, secret: Self.secret, at: moment.adding(seconds: 90), after: nil) == nil)
    }

    @Test func `a secret is shown in base32`() {
        let bytes: [UInt8] = [0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x21, 0xDE, 0xAD, 0xBE, 0xEF]
        #expect(OneTimeCode.text(of: bytes) == "JBSWY3DPEHPK3PXP")
        #expect(OneTimeCode.text(of: [0x66]) == "MY")
        #expect(OneTimeCode.text(of: Self.secret) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    }
}
