import Proofs
import Testing
import Vocabulary

/// The issuers that settings may accept for tokens.
@Suite struct TokenIssuerTests {
    @Test(arguments: [
        "", User.accountIssuer, User.customerIssuer, User.erasedIssuer, "Till", "CUSTOMER", " ", "till ", "\u{A0}",
        "\u{200B}till", "\u{FEFF}", "\n", "\0", "a b", String(repeating: "a", count: User.maximumIssuerLength + 1),
    ])
    func `an issuer that is the service's own or cannot be told from one is refused`(issuer: String) {
        #expect(!User.isForTokens(issuer: issuer))
    }

    @Test(arguments: ["https://accounts.example.com", "x", "till.example", "customers", "계정"])
    func `another issuer is accepted`(issuer: String) {
        #expect(User.isForTokens(issuer: issuer))
        #expect(User(issuer: issuer, name: "a")?.issuer == issuer)
    }
}
