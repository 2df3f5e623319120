import Commerce

/// An origin with its mark.
enum OriginWords {
    static func html(_ origin: Origin) -> HTML {
        HTML {
            Shown.identifier(origin.rawValue)
            plain(" ")
            CustomerWords.mark(origin)
        }
    }
}
