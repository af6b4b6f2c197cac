module github.com/crashpane/crashpane

go 1.26
