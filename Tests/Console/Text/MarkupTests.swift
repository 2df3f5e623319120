import Testing

/// The reader of pages, which refuses markup that the console does not write.
@Suite struct MarkupTests {
    private static func page(_ content: String) -> String {
        "<!DOCTYPE html>\n<html><head><script type=\"module\" src=\"/console/assets/console.js\"></script></head>"
            + "<body>\(content)</body></html>"
    }

    @Test(arguments: [
        "<p>a</p", "<p>a", "a</p>", "<p><b></p></b>", "<p class=a>a</p>", "<p class='a'>a</p>", "<!-- a -->", "a < b",
        "a > b", "a & b", "&nbsp;", "\"", "'", "<br/>", "<p  class=\"a\">a</p>", "<p class=\"<\">a</p>",
        "<p =\"a\"></p>",
        "</body></html><html><body>",
    ])
    func `other markup is a defect`(content: String) {
        #expect(throws: Markup.Defect.self) { try Markup(Self.page(content)) }
    }

    @Test(arguments: [
        "<script>a</script>", "<iframe></iframe>", "<p onclick=\"a\">a</p>", "<p style=\"a\">a</p>",
        "<a href=\"javascript:a\">a</a>", "<a href=\"//example.com\">a</a>", "<a href=\"http://example.com\">a</a>",
        "<form action=\"https://example.com\"></form>", "<img src=\"data:,\">", "<a href=\"/consoles\">a</a>",
    ])
    func `an element, an attribute or an address that no page has is a defect`(content: String) throws {
        #expect(try !MarkupRules.defects(of: Markup(Self.page(content))).isEmpty)
    }

    @Test(arguments: [
        "<p>a &lt;b&gt; &amp;amp; &quot;c&quot; &#39;d&#39;</p>", "<a href=\"https://example.com\">a</a><br>",
        "<form method=\"post\" action=\"/console/store\"><input type=\"text\" required></form>",
        "<a href=\"/console?a=b&amp;c=d\">a</a><a href=\"#main\">a</a>",
    ])
    func `the markup of the console has no defect`(content: String) throws {
        #expect(try MarkupRules.defects(of: Markup(Self.page(content))) == [])
    }

    @Test(arguments: [
        ("<p>שלום 1</p>", 0), ("<p>a <bdi>שלום</bdi> 1</p>", 0), ("<p>a \u{2068}שלום\u{2069} 1</p>", 0),
        ("<td><a>שלום</a></td>", 0), ("<option>שלום</option>", 0), ("<div><p>שלום</p>1</div>", 0), ("<p>a 1</p>", 0),
        ("<p>a <a>שלום</a></p>", 1), ("<p><em>\u{202E}a</em> 1</p>", 1), ("<span>مرحبا</span>", 1),
        ("<p>a <a>\u{2068}a\u{2069}שלום</a> 1</p>", 1),
    ])
    func `right-to-left text beside other text is isolated`(content: String, defects: Int) throws {
        #expect(try DirectionRules.defects(of: Markup(Self.page(content))).count == defects)
    }

    @Test(arguments: [
        ("<p>&lt;b&gt;mk0000q&#39;x</p>", 0, true), ("<p>A &lt;b&gt;mk0000q&#39;x B</p>", 0, true),
        ("<a href=\"/console?a=%3Cb%3Emk0000q%27x\">a</a>", 0, false), ("<p>&lt;b&gt;mk0000q&#39;</p>", 0, false),
        ("<p>mk0000q&#39;x</p>", 1, false), ("<p>&lt;b&gt;mk0000q</p>", 0, false),
        ("<p>&lt;b&gt;mk0000q x</p>", 1, false),
        ("<p>&amp;lt;b&amp;gt;mk0000q&#39;x</p>", 1, false), ("<p title=\"&lt;b&gt;mk0000q\">a</p>", 1, false),
    ])
    func `a text is shown whole, or up to the end of its element`(content: String, defects: Int, isSeen: Bool) throws {
        let text = HostileText(field: "reason", before: "<b>", marker: "mk0000q", after: "'x")
        var shown = ShownTexts([text])
        #expect(try shown.defects(of: Markup(Self.page(content)), isRefusal: false).count == defects)
        #expect(shown.missing(among: [0]).isEmpty == isSeen)
    }

    @Test func `a text is as long as its field accepts`() {
        var texts = HostileTexts(seed: 1)
        let made = (0..<200).map { _ in texts.next("account", .line, .bytes(256)).text.utf8.count }
        #expect(made.max() == 256 && Set(made).count > 20)
        let reasons = (0..<200).map { _ in texts.next("reason", .sentence, .scalars(500)).text.unicodeScalars.count }
        #expect(reasons.max() == 500 && Set(reasons).count > 20)
    }
}
