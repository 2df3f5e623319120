import HTTPSupport
import Proofs
import Service

extension SettingGroup {
    static let appStore = SettingGroup(
        title: "App Store",
        settings: [
            Setting(
                "app-store-key", .text, valueName: "file",
                "the `.p8` file of a key from App Store Connect, with which the service fetches missed notifications"),
            Setting(
                "app-store-key-id", .text, valueName: "identifier", dependency: "app-store-key",
                "the key's identifier"),
            Setting(
                "app-store-issuer-id", .text, valueName: "uuid", dependency: "app-store-key",
                "the issuer's identifier"),
            Setting(
                "app-store-url", .text, default: .described("Apple's, by origin"), valueName: "url",
                dependency: "app-store-key", "the address of the App Store Server API, of a local store for example"),
            Setting(
                "reconcile-seconds", .number(0...86_400), default: .value(.number(3600)), valueName: "seconds",
                dependency: "app-store-key",
                "the interval between fetches of missed notifications, from the start on; 0 for never"),
            Setting(
                "reconcile-customers-seconds", .number(0...(30 * 86_400)), default: .value(.number(86_400)),
                valueName: "seconds", dependency: "app-store-key",
                "the same for the history of every customer"),
            Setting(
                "refund-preference", .choice(RefundPreference.allCases.map(\.rawValue) + ["NONE"]),
                valueName: "preference", dependency: "app-store-key",
                "the preference in answers to Apple's questions about refunds; set it only if your customers have consented"
            ),
            .flag(
                "sample-content-provided", dependency: "refund-preference",
                "says in these answers that customers could try before they bought"),
        ])

    static let limits: SettingGroup = {
        let standard = ServerConfiguration()
        return SettingGroup(
            title: "Limits",
            settings: [
                Setting(
                    "maximum-connections", .number(1...100_000), default: .value(.number(standard.maximumConnections)),
                    valueName: "n", "the limit on connections"),
                Setting(
                    "maximum-connections-per-address", .number(1...100_000),
                    default: .value(.number(standard.maximumConnectionsPerAddress ?? standard.maximumConnections)),
                    valueName: "n",
                    "the limit on connections of one address; with `proxies`, on its requests under way"),
                Setting(
                    "maximum-streams-per-address", .number(1...100_000),
                    default: .value(.number(EventHub.Limits().perAddress)), valueName: "n",
                    "the limit on event streams of one address"),
                Setting(
                    "maximum-body-megabytes", .number(16...65_536), default: .value(.number(64)), valueName: "n",
                    "the memory for request bodies, in MiB; one app or address gets a quarter"),
                Setting(
                    "idle-seconds", .number(1...86_400),
                    default: .value(.number(Int(standard.idleTime.components.seconds))), valueName: "seconds",
                    "the time after which a silent connection is closed"),
                Setting(
                    "request-seconds", .number(1...3600),
                    default: .value(.number(Int(standard.requestTime.components.seconds))), valueName: "seconds",
                    "the time in which a request must be answered"),
                Setting(
                    "requests-per-minute", .number(1...10_000_000),
                    default: .value(.number(standard.requestLimits.perKey)), valueName: "n",
                    "the rate limit of each API key"),
                Setting(
                    "user-requests-per-minute", .number(1...10_000_000),
                    default: .value(.number(standard.requestLimits.perUser)), valueName: "n",
                    "the rate limit of each user of an app"),
                Setting(
                    "address-requests-per-minute", .number(1...10_000_000),
                    default: .value(.number(standard.requestLimits.perPublicKeyAddress)), valueName: "n",
                    "the rate limit of each address with a public key; of IPv6, of each /64, and 16 times as much of each /48"
                ),
                Setting(
                    "newcomer-megabytes-per-day", .number(1...1_000_000),
                    default: .value(.number(standard.requestLimits.newcomerBytesPerDay >> 20)), valueName: "n",
                    "what public keys and signed-up users may write in a day for customers without a purchase, in MiB"),
                Setting(
                    "address-newcomer-kilobytes-per-day", .number(1...1_000_000),
                    default: .value(.number(standard.requestLimits.newcomerBytesPerAddress >> 10)), valueName: "n",
                    "the part of one address, in KiB; of IPv6, of each /64, and 16 times as much of each /48"),
                Setting(
                    "storage-reserve-megabytes", .number(0...100_000_000), default: .value(.number(256)),
                    valueName: "n",
                    "the free space beside a ledger in a file below which only purchases, notifications and back ends write, in MiB, an eighth of the disk at most; 0 for none"
                ),
                Setting(
                    "grace-seconds", .number(0...3600),
                    default: .value(.number(Int(standard.gracePeriod.components.seconds))), valueName: "seconds",
                    "the time for requests under way when the service stops"),
            ])
    }()
}
