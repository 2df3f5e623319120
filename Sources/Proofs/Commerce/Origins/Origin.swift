/// The issuer and the environment of a proof.
///
/// The anchor of the proof's chain, or the key of the app on Google Play, determines the issuer. The signed content determines the environment.
/// The service accepts only its configured origins. No origin replaces another.
///
/// A store that Till does not come with has origins of its own, `NAME/Production`, `NAME/Sandbox` and `NAME/Test`. The name has at most six
/// small letters. A ledger and an answer may have them. A person can name one of `allCases` alone (`init(listed:)`).
public struct Origin: RawRepresentable, Hashable, Sendable, Codable, CaseIterable {
    public static let appleProduction = Origin(code: 0)
    public static let appleSandbox = Origin(code: 1)
    public static let xcode = Origin(code: 2)
    public static let localProduction = Origin(code: 3)
    public static let localSandbox = Origin(code: 4)
    public static let googleProduction = Origin(code: 5)
    public static let googleTest = Origin(code: 6)
    public static let localPlayProduction = Origin(code: 7)
    public static let localPlayTest = Origin(code: 8)

    /// The texts of `allCases`, each at its code.
    private static let texts = [
        "apple/Production", "apple/Sandbox", "xcode", "local/Production", "local/Sandbox", "google/Production",
        "google/Test", "localPlay/Production", "localPlay/Test",
    ]
    /// The environments of other stores, each at the number in the lowest bits of its code.
    private static let environments = ["Production", "Sandbox", "Test"]

    /// The origins that Till knows.
    public static let allCases = texts.indices.map { Origin(code: UInt64($0)) }

    /// The place in `texts`; for another store the packed name and the environment (`StoreName`).
    ///
    /// A row of the ledger has an origin, and the decision compares it for each claim. A number has no memory of its own.
    private let code: UInt64

    private init(code: UInt64) {
        self.code = code
    }

    /// The origin of a text; nil for a text without the form of one.
    public init?(rawValue: String) {
        if let known = Self.texts.firstIndex(where: { $0.hasSameBytes(as: rawValue) }) {
            self.init(code: UInt64(known))
            return
        }
        let parts = rawValue.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let name = StoreName(parts[0]), !name.isTaken,
            let environment = Self.environments.firstIndex(where: { $0.utf8.elementsEqual(parts[1].utf8) })
        else { return nil }
        self.init(code: name.code | UInt64(environment))
    }

    public var rawValue: String {
        guard StoreName.isPacked(code) else { return Self.texts[Int(code)] }
        return "\(StoreName(code: code).text)/\(Self.environments[Int(code & StoreName.environmentMask)])"
    }

    public static func == (left: Origin, right: Origin) -> Bool { left.code == right.code }

    // Without it, `!=` is that of `RawRepresentable`, which makes two texts.
    public static func != (left: Origin, right: Origin) -> Bool { left.code != right.code }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The number in the rows of a ledger, of 32 bits: negative for another store, with the environment in the lowest two bits.
    package var number: Int64 { Int64(bitPattern: code) }

    /// - Returns: Nil for a number that no origin has.
    package init?(number: Int64) {
        let code = UInt64(bitPattern: number)
        guard code >= Self.texts.count else {
            self.init(code: code)
            return
        }
        guard let name = StoreName(checking: code), !name.isTaken,
            code & StoreName.environmentMask < Self.environments.count
        else { return nil }
        self.init(code: code)
    }

    /// - Returns: Nil if the realm cannot sign for the environment, such as Xcode's certificate for Production.
    public init?(realm: Realm, environment: AppStoreEnvironment) {
        switch (realm, environment) {
        case (.apple, .production): self = .appleProduction
        case (.apple, .sandbox): self = .appleSandbox
        case (.xcode, .xcode): self = .xcode
        case (.local, .production): self = .localProduction
        case (.local, .sandbox): self = .localSandbox
        case (.google, .production): self = .googleProduction
        case (.google, .sandbox): self = .googleTest
        case (.localPlay, .production): self = .localPlayProduction
        case (.localPlay, .sandbox): self = .localPlayTest
        default: return nil
        }
    }

    /// The store that sells the purchases, itself or as a local one.
    package var store: PurchaseStore {
        switch self {
        case .appleProduction, .appleSandbox, .xcode, .localProduction, .localSandbox: .appStore
        case .googleProduction, .googleTest, .localPlayProduction, .localPlayTest: .playStore
        default: PurchaseStore(StoreName(code: code))
        }
    }

    /// True for test purchases, which cost no money.
    package var isSandbox: Bool {
        switch self {
        case .appleProduction, .localProduction, .googleProduction, .localPlayProduction: false
        case .appleSandbox, .localSandbox, .xcode, .googleTest, .localPlayTest: true
        default: code & StoreName.environmentMask != 0
        }
    }

    /// The environment of the proofs.
    var environment: AppStoreEnvironment { self == .xcode ? .xcode : isSandbox ? .sandbox : .production }

    /// True if customers pay. Anybody who reaches a local store mints purchases there.
    package var isSold: Bool { !isSandbox && self != .localProduction && self != .localPlayProduction }

    /// True if a developer's own machine signs the purchases: a local store of Till's, or Xcode. No customer has one.
    package var isLocal: Bool {
        switch self {
        case .xcode, .localProduction, .localSandbox, .localPlayProduction, .localPlayTest: true
        default: false
        }
    }

    /// The origins of the test purchases of the same store; none for one of test purchases.
    package var sandboxes: [Origin] {
        switch self {
        case .appleProduction: [.appleSandbox]
        case .localProduction: [.localSandbox]
        case .googleProduction: [.googleTest]
        case .localPlayProduction: [.localPlayTest]
        default: isSandbox ? [] : [Origin(code: code | 1), Origin(code: code | 2)]
        }
    }

    /// The origins that the service accepts by default: those of a local App Store and of a local Google Play.
    public static let defaultAccepted: Set<Origin> = [
        .localProduction, .localSandbox, .localPlayProduction, .localPlayTest,
    ]
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// The listed value of a text that a person writes; nil for any other text, also for one of an open type.
    package init?(listed text: String) {
        guard let value = Self.allCases.first(where: { $0.rawValue.hasSameBytes(as: text) }) else { return nil }
        self = value
    }
}

extension Set<Origin> {
    /// The production of a store among these origins, and another origin, whose purchases cost nothing; nil unless there are both.
    ///
    /// Anybody who reaches a local store mints purchases there, and testers of any store buy for nothing.
    package var freeBesideProduction: (production: Origin, free: Origin)? {
        let production = filter(\.isSold)
        let (first, free) = (production.min { $0.rawValue < $1.rawValue }, subtracting(production))
        guard let first, let free = free.min(by: { $0.rawValue < $1.rawValue }) else { return nil }
        return (first, free)
    }
}

/// The store environment that a proof states (App Store Server API, `environment`).
public enum AppStoreEnvironment: String, Sendable, Codable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
    case xcode = "Xcode"
    case localTesting = "LocalTesting"
}

/// The owner of a trust anchor or of the key of an app: Apple, Xcode's StoreKit testing, Google Play, or a local store.
public enum Realm: String, Sendable, Codable, CaseIterable {
    case apple
    case xcode
    case local
    case google
    case localPlay
}

extension Origin {
    /// The origin of a purchase of Google Play, or of a local one.
    package init(googlePlay realm: Realm, isTest: Bool) {
        if realm == .localPlay {
            self = isTest ? .localPlayTest : .localPlayProduction
        } else {
            self = isTest ? .googleTest : .googleProduction
        }
    }
}
