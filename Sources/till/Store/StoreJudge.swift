import AppStore
import ArgumentParser

struct StoreJudge: Command {
    static let configuration = CommandConfiguration(
        "judge", "Judge a request that your server has signed for StoreKit.",
        """
        The request is a JWS for a promotional offer, the eligibility for an introductory offer, or the Advanced Commerce API in \
        an app. The store checks it with the keys of `till store keys`. The status is 1 if StoreKit would not accept it.
        """,
        examples: """
            till store judge "$SIGNED_REQUEST"
            till store judge "$SIGNED_REQUEST" --json
            """)

    @Argument(help: ArgumentHelp("The JWS in compact form.", valueName: "jws"))
    var signedRequest: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let verdict = try common.directoryOfStore.store().read { try $0.verdict(onSignedRequest: signedRequest) }
        if verdict.isAccepted { terminal.line("StoreKit would accept it: \(verdict.audience ?? "").") }
        try terminal.json(verdict)
        if let refusal = verdict.refusal { try terminal.end("StoreKit would not accept it. \(refusal)") }
    }
}
