/// The builder of `HTML`. It takes no strings, so that text is either a phrase in each language or named as data.
@resultBuilder enum HTMLBuilder {
    static func buildExpression(_ html: HTML) -> HTML { html }
    static func buildExpression(_ html: HTML?) -> HTML { html ?? HTML() }
    static func buildExpression(_ phrase: Phrase) -> HTML { HTML([.phrase(phrase)]) }
    static func buildBlock(_ parts: HTML...) -> HTML { HTML(parts.flatMap(\.nodes)) }
    static func buildOptional(_ part: HTML?) -> HTML { part ?? HTML() }
    static func buildEither(first part: HTML) -> HTML { part }
    static func buildEither(second part: HTML) -> HTML { part }
    static func buildArray(_ parts: [HTML]) -> HTML { HTML(parts.flatMap(\.nodes)) }
}

/// Text from outside: a name, a reason, an identifier. Its direction does not affect the text around it.
package func data(_ value: String) -> HTML {
    bdi { plain(value) }
}

/// Text without language or direction, such as a number; also the content of elements that may have no markup (`option`,
/// `textarea`, `title`).
package func plain(_ value: String) -> HTML {
    HTML([.text(value)])
}
