import HTTPSupport
import Proofs
import Testing

/// The form of users' tokens, before the verification of the signature.
@Suite struct SignedTokenTests {
    private static let header = #"{"alg":"ES256","kid":"1"}"#
    private static let payload = #"{"sub":"alice","nested":{"a":[1,"é"]}}"#
    private static let signature = Base64.encode([UInt8](repeating: 1, count: 64), .urlSafe)

    private static func token(_ header: [UInt8] = Array(header.utf8), _ payload: [UInt8] = Array(payload.utf8))
        -> String
    {
        "\(Base64.encode(header, .urlSafe)).\(Base64.encode(payload, .urlSafe)).\(signature)"
    }

    private func reason(_ token: String) -> String? {
        do throws(Problem) {
            _ = try SignedToken(compact: Array(token.utf8))
            return nil
        } catch {
            #expect((error.status, error.code) == (401, "tokenInvalid"))
            return error.detail
        }
    }

    @Test func `a token is decoded`() throws {
        let token = try SignedToken(compact: Array(Self.token().utf8))
        #expect((token.algorithm, token.keyIdentifier) == ("ES256", "1"))
        #expect(token.claims.text("sub") == "alice")
        let unnamed = try SignedToken(compact: Array(Self.token(Array(#"{"alg":"ES256"}"#.utf8)).utf8))
        #expect(unnamed.keyIdentifier == nil)
    }

    @Test(
        arguments: [
            ("two parts", token().split(separator: ".").prefix(2).joined(separator: ".")),
            ("four parts", token() + "."), ("no header", "." + token().split(separator: ".", maxSplits: 1)[1]),
            ("nothing", ""), ("points", ".."), ("a padded signature", token() + "=="),
            ("bits after the signature", token().dropLast() + "R"), ("a space", token() + " "),
            ("a line's end", token() + "\n"),
            ("a standard alphabet", token().replacing("_", with: "/") + "+"),
            ("a padded header", "\(Base64.encode(#"{"alg":"ES256" }"#.utf8)).e30.\(signature)"),
            ("a padded payload", "\(Base64.encode(header.utf8, .urlSafe)).e30=.\(signature)"),
            ("bits after the payload", "\(Base64.encode(header.utf8, .urlSafe)).e31.\(signature)"),
            ("a header twice of one key", token(Array(#"{"alg":"none","alg":"ES256"}"#.utf8))),
            ("the same, escaped", token(Array(#"{"alg":"none","\u0061lg":"ES256"}"#.utf8))),
            ("a payload twice of one key", token(Array(header.utf8), Array(#"{"sub":"alice","sub":"bob"}"#.utf8))),
            ("a value twice of one key", token(Array(header.utf8), Array(#"{"a":{"b":1,"b":2}}"#.utf8))),
            (
                "a header with invalid UTF-8",
                token(Array(#"{"alg":"ES256","kid":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
            ),
            (
                "a payload with invalid UTF-8",
                token(Array(header.utf8), Array(#"{"sub":""#.utf8) + [0xC0, 0x80, 0x22, 0x7D])
            ),
            ("a byte order mark", token([0xEF, 0xBB, 0xBF] + Array(header.utf8))),
            ("more after the header", token(Array((header + "{}").utf8))),
            ("a header other than an object", token(Array(#"["ES256"]"#.utf8))),
            ("a payload other than an object", token(Array(header.utf8), Array("[]".utf8))),
            ("an empty payload", token(Array(header.utf8), [])), ("no algorithm", token(Array(#"{"kid":"1"}"#.utf8))),
            ("an algorithm other than a string", token(Array(#"{"alg":null}"#.utf8))),
            ("something critical", token(Array(#"{"alg":"ES256","crit":["exp"],"exp":1}"#.utf8))),
            ("nothing critical", token(Array(#"{"alg":"ES256","crit":null}"#.utf8))),
            ("a header that is not ASCII", token(Array(#"{"alg":"ES256","kid":"é"}"#.utf8))),
            (
                "a key of 257 bytes",
                token(Array(header.utf8), Array(("{\"" + String(repeating: "a", count: 257) + "\":1}").utf8))
            ),
            (
                "33 arrays",
                token(
                    Array(header.utf8),
                    Array(
                        (#"{"a":"# + String(repeating: "[", count: 33) + String(repeating: "]", count: 33) + "}").utf8))
            ),
        ] as [(String, String)])
    func `text other than a signed JWT is refused`(what: String, token: String) {
        #expect(reason(token) == "The token is not accepted: it must be a signed JWT.", "\(what)")
    }

    @Test func `a kid must be a string`() {
        #expect(
            reason(Self.token(Array(#"{"alg":"ES256","kid":1}"#.utf8)))
                == "The token is not accepted: its kid must be a string.")
    }

    @Test func `a token of 8 KiB is read, and a longer one is not`() {
        let header = #"{"alg":"ES256"}"#
        let fixed = Self.token(Array(header.utf8), []).utf8.count
        // Three bytes of a payload become four bytes of a token.
        let room = (8192 - fixed) / 4 * 3
        for (size, expected) in [
            (room, nil), (room + 3, "The token is not accepted: it has more than 8192 bytes."),
        ] {
            let payload = #"{"a":""# + String(repeating: "a", count: size - 8) + #""}"#
            #expect(payload.utf8.count == size)
            #expect(reason(Self.token(Array(header.utf8), Array(payload.utf8))) == expected)
        }
    }
}
