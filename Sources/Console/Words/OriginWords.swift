import Proofs

/// An origin with its mark.
enum OriginWords {
    static func html(_ origin: Origin) -> HTML {
        HTML {
            Shown.identifier(origin.rawValue)
            plain(" ")
            mark(origin)
        }
    }

    /// A badge for an origin whose purchases cost nothing; nil for real purchases.
    static func mark(_ origin: Origin?) -> HTML? {
        switch origin {
        case .appleProduction, nil: nil
        case .appleSandbox: Shown.badge(Phrase("Sandbox", "샌드박스"), .warning)
        case .xcode: Shown.badge(Phrase("Xcode", "Xcode"), .warning)
        case .localProduction: Shown.badge(Phrase("Local store", "로컬 스토어"), .warning)
        case .localSandbox: Shown.badge(Phrase("Local sandbox", "로컬 샌드박스"), .warning)
        }
    }
}
